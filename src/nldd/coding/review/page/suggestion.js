// What the machine suggests for an answer, how sure it is, and what it has seen that is alike.

import { codeChips, element, keyCap, line, sentence } from './elements.js'
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
  if (next) {
    const key = keyCap(app.keys.label('runner_up'))
    buttons.push(element('button', { on: { click: acts.take } }, 'Next best', codeChips(next), key))
  }
  if (view.n_alike && view.state !== 'done') {
    // Without their number: it changes with every decision.
    const key = keyCap(app.keys.label('alike'))
    buttons.push(element('button', { on: { click: acts.alike } }, 'More like this', key))
  }
  const { why } = suggestion
  const attributes = { class: 'small muted', dir: 'auto' }
  const parts = why ? [element('p', attributes, `For people because: ${why}`)] : []
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
