// Elements made from values: text is only ever text, never markup.

/** @import { Child } from './shapes.js' */

/** A new element; `on` has its listeners, booleans switch attributes, the rest are attributes.
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Record<string, any>} [attributes]
 * @param {...Child} children
 * @returns {HTMLElementTagNameMap[Tag]} */
export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag)
  if (made instanceof HTMLButtonElement) made.type = 'button'
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

/** Replace what an element holds.
 * @param {Element} parent
 * @param {...Child} children */
export function put(parent, ...children) {
  const kept = /** @type {(Node | string)[]} */ ([])
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue
    kept.push(child instanceof Node ? child : String(child))
  }
  parent.replaceChildren(...kept)
}

/** The element of the page with that id.
 * @param {string} id
 * @returns {HTMLElement} */
export function byId(id) {
  const found = document.getElementById(id)
  if (!found) throw new Error(`the page has no element ${id}`)
  return found
}

/** Let keys go to the answer, if one is on screen. */
export function toAnswer() {
  const text = /** @type {HTMLElement | null} */ (document.querySelector('.answer-text'))
  text?.focus({ preventScroll: true })
}

/** Codes in words.
 * @param {readonly string[]} codes */
export function codesText(codes) {
  return codes.length ? codes.join(', ') : 'no code'
}

/** Codes as small labels, each in the direction of its own script.
 * @param {readonly string[]} codes
 * @param {string[]} [apart] those that not all coders gave */
export function codeChips(codes, apart = []) {
  const chips = codes.map((code) => {
    const isApart = apart.includes(code)
    const note = isApart && element('span', { class: 'sr-only' }, ' (not all gave this)')
    return element('li', { class: isApart ? 'chip chip-only' : 'chip', dir: 'auto' }, code, note)
  })
  const none = element('li', { class: 'chip chip-none' }, 'no code')
  return element('ul', { class: 'chips' }, ...(chips.length ? chips : [none]))
}

/** @param {string} label
 * @param {() => void} act
 * @param {string} [style] */
export function button(label, act, style = '') {
  return element('button', { class: style || null, on: { click: act } }, label)
}

/** @param {string} style
 * @param {HTMLElement} caption
 * @param {string[]} heads
 * @param {HTMLElement[]} rows */
export function table(style, caption, heads, rows) {
  const cells = heads.map((name) => element('th', { scope: 'col', dir: 'auto' }, name))
  const head = element('thead', {}, element('tr', {}, ...cells))
  return element('table', { class: style }, caption, head, element('tbody', {}, ...rows))
}

/** @param {{code: string, name: string}} code */
export const fullName = ({ code, name }) => (name && name !== code ? `${code} – ${name}` : code)

/** @param {...Child} children */
export const line = (...children) => element('p', { dir: 'auto' }, ...children)

/** @param {string} text */
export const muted = (text) => element('p', { class: 'muted' }, text)

/** @param {string} words */
export const sentence = (words) => words && `${words[0].toUpperCase()}${words.slice(1)}.`

/** @param {number} n */
export const count = (n) => n.toLocaleString('en')

/** @param {number} n */
export const answers = (n) => `${count(n)} ${n === 1 ? 'answer' : 'answers'}`

/** @param {number} share */
export const percent = (share) => `${Math.round(100 * share)} %`

/** @param {Record<string, (event: any) => void>} on */
export function findField(on) {
  const label = 'Find a code'
  const attributes = { type: 'search', 'aria-label': label, placeholder: label, on }
  return element('input', { ...attributes, autocomplete: 'off', spellcheck: 'false' })
}

/** A key as it is drawn on a button.
 * @param {string} label */
export function keyCap(label) {
  return label ? element('kbd', { 'aria-hidden': 'true' }, label) : null
}
