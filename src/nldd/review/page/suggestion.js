// What the machine suggests for an answer, how sure it is, and what it has seen that is alike.

import { codeChips, element, keyCap } from './elements.js'
/** @import { App, ItemView } from './shapes.js' */

// On a narrow screen the nearest answers are closed at first.
const NARROW = '(max-width: 47.99rem)'
const BLIND =
  'This answer was drawn at random to check the machine. The suggestion stays hidden: to see it ' +
  'would make the machine look better than it is.'

/** What is suggested and how sure that is, in words; or why there is no suggestion.
 * @param {ItemView} view */
export function suggested({ given, blind, suggestion }) {
  if (given) return line('This answer came with its codes, so there is nothing to decide.')
  if (blind) return line(BLIND)
  if (!suggestion) return line('There is no suggestion for this answer.')
  return element('div', { class: 'suggested' },
    element('span', { class: 'muted' }, 'Suggested'),
    codeChips(suggestion.codes),
    element('strong', {}, sentence(suggestion.doubt_words)),
  )
}

/** Why the answer is for people, and what else can be done with it.
 * @param {App} app
 * @param {ItemView} view
 * @param {{take: () => void, alike: () => void}} acts
 * @returns {HTMLElement[]} */
export function explain(app, view, acts) {
  const { suggestion } = view
  if (!suggestion || view.blind || view.given) return []
  const buttons = []
  const [next] = suggestion.next
  if (next)
    buttons.push(button(acts.take, 'Next best', codeChips(next), app.keys.label('runner_up')))
  if (view.n_alike && view.state !== 'done') {
    // Without their number: it changes with every decision.
    buttons.push(button(acts.alike, 'More like this', null, app.keys.label('alike')))
  }
  const parts = suggestion.why ? [line(`For people because: ${suggestion.why}`, 'small muted')] : []
  return buttons.length ? [...parts, element('div', { class: 'why-actions' }, ...buttons)] : parts
}

/** The nearest answers that have codes already.
 * @param {ItemView} view */
export function nearestList(view) {
  const nearest = view.suggestion?.nearest ?? []
  if (!nearest.length || view.blind) return null
  const rows = nearest.map(({ text, codes }) =>
    element('li', {}, element('p', { class: 'nearest-text', dir: 'auto' }, text), codeChips(codes)),
  )
  const isOpen = !matchMedia(NARROW).matches
  return element('details', { class: 'nearest', open: isOpen },
    element('summary', {}, 'Nearest coded answers'),
    element('ol', {}, ...rows),
  )
}

/** @param {() => void} act
 * @param {string} label
 * @param {HTMLElement | null} more
 * @param {string} key */
function button(act, label, more, key) {
  return element('button', { on: { click: act } }, label, more, keyCap(key))
}

/** @param {string} text
 * @param {string} [style] */
function line(text, style = '') {
  return element('p', { class: style || null, dir: 'auto' }, text)
}

/** @param {string} words */
function sentence(words) {
  return words ? `${words[0].toUpperCase()}${words.slice(1)}.` : ''
}
