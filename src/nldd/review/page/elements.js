// Elements made from values: text is only ever text, never markup.

/** @typedef {Node | string | number | null | undefined | false} Child */

/**
 * A new element; `on` has its listeners, booleans switch attributes, the rest are attributes.
 *
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Record<string, any>} [attributes]
 * @param {...Child} children
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag)
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue
    if (name === 'on') {
      for (const [event, listener] of Object.entries(value)) made.addEventListener(event, listener)
    } else {
      made.setAttribute(name, value === true ? '' : String(value))
    }
  }
  put(made, ...children)
  return made
}

/**
 * Replace what an element holds.
 *
 * @param {Element} parent
 * @param {...Child} children
 */
export function put(parent, ...children) {
  const kept = /** @type {(Node | string)[]} */ ([])
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue
    kept.push(child instanceof Node ? child : String(child))
  }
  parent.replaceChildren(...kept)
}

/**
 * The element of the page with that id.
 *
 * @param {string} id
 * @returns {HTMLElement}
 */
export function byId(id) {
  const found = document.getElementById(id)
  if (!found) throw new Error(`the page has no element ${id}`)
  return found
}

/**
 * Codes in words.
 *
 * @param {readonly string[]} codes
 */
export function codesText(codes) {
  return codes.length ? codes.join(', ') : 'no code'
}

/**
 * Codes as small labels, each in the direction of its own script.
 *
 * @param {readonly string[]} codes
 */
export function codeChips(codes) {
  const chips = codes.map((code) => element('li', { class: 'chip', dir: 'auto' }, code))
  const none = element('li', { class: 'chip chip-none' }, 'no code')
  return element('ul', { class: 'chips' }, ...(chips.length ? chips : [none]))
}

/**
 * A key as it is drawn on a button.
 *
 * @param {string} label
 */
export function keyCap(label) {
  return label ? element('kbd', { 'aria-hidden': 'true' }, label) : null
}
