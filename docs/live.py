"""Two explorers that move on the site, where no Python runs: their pictures are
drawn when the site is built, and the slider, a real widget, turns them over. Needs
the scripts of `vendor.py`; without them the page has the notebook's still pictures
only."""

import base64
from html import escape

from execnb.nbio import mk_cell

STATE = "application/vnd.jupyter.widget-state+json"
VIEW = "application/vnd.jupyter.widget-view+json"


def frames(panel, name, values):
    "HTML of the panel's picture and sentence for each value of one control"
    for value in values:
        panel.controls[name].value = value
        panel.run()
        source = base64.b64encode(panel.picture.value).decode()
        yield (
            f'<img alt="{escape(panel.title)}: {escape(panel.text)}" '
            f'src="data:image/png;base64,{source}" '
            'style="max-width:100%;height:auto;background:#fff">'
            f"<div>{panel.message.value}</div>"
        )


def flip_book(panel, name, values, label):
    "A slider, and under it one of the frames; the link between them is JavaScript's"
    import ipywidgets as widgets

    pages = widgets.Stack(
        [widgets.HTML(f) for f in frames(panel, name, values)], selected_index=0
    )
    slider = widgets.SelectionSlider(
        options=[(f"{v:.3g}", i) for i, v in enumerate(values)],
        index=0,
        description=label,
        style=dict(description_width="initial"),
    )
    link = widgets.jslink((slider, "index"), (pages, "selected_index"))
    return widgets.VBox([slider, pages]), link


def add(nb):
    "Put the moving explorers at the end of the page; the state of their widgets"
    from ipywidgets.embed import dependency_state, embed_data
    from kpw_nb.explore import feel_projection, watch_bcd

    feel, watch = feel_projection(), watch_bcd()
    factors = [0.25 * 2 ** (k / 2) for k in range(9)]
    made = [
        (
            "feel_projection()",
            "Feel the projection: the bandwidth, in multiples of the median distance",
            *flip_book(feel, "bandwidth", factors, "bandwidth ×"),
        ),
        (
            "watch_bcd()",
            "Watch the algorithm: its first iterations",
            *flip_book(watch, "iteration", list(range(1, 13)), "iteration"),
        ),
    ]
    state, cells = {}, []
    for source, title, box, link in made:
        data = embed_data(views=[box], state=dependency_state([box, link]))
        state |= data["manager_state"]["state"]
        cell = mk_cell(
            source, "code"
        )  # not shown, but MyST-NB leaves out a cell without a source
        cell["execution_count"], cell.metadata = None, dict(tags=["remove-input"])
        cell.outputs = [
            dict(
                output_type="display_data",
                metadata={},
                data={VIEW: data["view_specs"][0], "text/plain": title},
            )
        ]
        cells += [mk_cell(f"**{title}**", "markdown"), cell]
    text = (
        "## Here, without Jupyter\n\nThe site draws the pictures of two explorers "
        "beforehand. A slider turns them over; nothing is computed while you look."
    )
    nb.cells += [mk_cell(text, "markdown"), *cells]
    # for the metadata of the page, under "widgets"
    return {STATE: dict(version_major=2, version_minor=0, state=state)}
