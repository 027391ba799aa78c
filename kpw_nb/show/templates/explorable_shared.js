// one letter a number, see `as_digits`
const digit = Object.fromEntries([...data.digits].map((letter, k) => [letter, k]));
const numbers = letters => [...letters].map(letter => digit[letter]);
const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
const make = (parent, tag, given = {}, text = "") => {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const name in given) node.setAttribute(name, given[name]);
  node.textContent = text;
  return parent.appendChild(node);
};
// the colour of X where a map is low, that of Y where it is high
const tint = (canvas, field) => {
  const pen = canvas.getContext("2d"), image = pen.createImageData(canvas.width, canvas.height);
  field.forEach((level, k) => {
    const high = level / 31.5 - 1, colour = high > 0 ? [213, 94, 0] : [0, 114, 178];
    image.data.set([...colour, 90 * Math.abs(high)], 4 * k);
  });
  pen.putImageData(image, 0, 0);
};
