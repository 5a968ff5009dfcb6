// Elements from data. Text enters the page through textContent alone, so that no name or message can be markup.

/** An element with properties and children; `class`, `data` and `aria` are set as attributes, handlers as `onclick`. */
export function h(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "class") element.className = value;
    else if (name === "data") Object.assign(element.dataset, value);
    else if (name.startsWith("on")) element[name] = value;
    else if (name in element && name !== "list" && name !== "form" && name !== "role") element[name] = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  fill(element, children);
  return element;
}

/** Append children, lists of children and texts; nothing for null. */
export function fill(element, children) {
  for (const child of [children].flat(3)) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
  return element;
}

/** Put other children in place of those an element has. */
export function put(element, ...children) {
  element.replaceChildren();
  return fill(element, children);
}

/** Children by key, those that stay being kept, so that focus and animations go on. */
export function keep(container, items, key, make, update) {
  const old = new Map([...container.children].map((child) => [child.dataset.key, child]));
  const wanted = items.map((item) => {
    const name = String(key(item));
    let element = old.get(name);
    if (!element) {
      element = make(item);
      element.dataset.key = name;
    }
    old.delete(name);
    update?.(element, item);
    return element;
  });
  for (const element of old.values()) element.remove();
  wanted.forEach((element, index) => {
    if (container.children[index] !== element) container.insertBefore(element, container.children[index] ?? null);
  });
}

const SVG = "http://www.w3.org/2000/svg";

/** An SVG element with attributes and children. */
export function s(tag, attributes = {}, ...children) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  for (const child of children.flat()) element.append(child);
  return element;
}

/** Tell screen readers, one sentence after the other. */
export function announce(text) {
  const place = document.getElementById("announce");
  if (!text) return;
  const line = h("p", {}, text);
  place.append(line);
  while (place.children.length > 6) place.firstChild.remove();
}
