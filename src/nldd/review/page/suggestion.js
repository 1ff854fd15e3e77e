// What the machine suggests for an answer, how sure it is, and what it has seen that is alike.

import { codeChips, element, keyCap } from './elements.js'

/** @typedef {import('./api.js').ItemView} ItemView */
/** @typedef {import('./app.js').App} App */

// On a narrow screen the nearest answers are closed at first.
const NARROW = '(max-width: 47.99rem)'

/**
 * The suggestion in words, and what can be done with it.
 *
 * @param {App} app
 * @param {ItemView} view
 * @param {{take: () => void, alike: () => void}} acts
 * @returns {HTMLElement[]}
 */
export function explain(app, view, acts) {
  if (view.given) return [line('This answer came with its codes, so that there is nothing to decide.')]
  if (view.blind) return [blindText()]
  const { suggestion } = view
  if (!suggestion) return [line('There is no suggestion for this answer.')]
  const parts = [
    element('p', { class: 'suggested' }, element('span', { class: 'muted' }, 'Suggested'), codeChips(suggestion.codes), element('strong', {}, sentence(suggestion.doubt_words))),
  ]
  if (suggestion.why) parts.push(line(`For people because: ${suggestion.why}`, 'small muted'))
  const buttons = element('div', { class: 'why-actions' })
  const [next] = suggestion.next
  if (next) {
    buttons.append(element('button', { type: 'button', class: 'runner-up', on: { click: acts.take } }, 'Next best', codeChips(next), keyCap(app.keys.label('runner_up')) ?? ''))
  }
  if (view.n_alike && view.state !== 'done') {
    const n = view.n_alike.toLocaleString('en')
    buttons.append(element('button', { type: 'button', class: 'alike', on: { click: acts.alike } }, `${n} more like this`, keyCap(app.keys.label('alike')) ?? ''))
  }
  return buttons.childElementCount ? [...parts, buttons] : parts
}

/**
 * The nearest answers that have codes already.
 *
 * @param {ItemView} view
 */
export function nearestList(view) {
  const nearest = view.suggestion?.nearest ?? []
  if (!nearest.length || view.blind) return null
  const rows = nearest.map(({ text, codes }) =>
    element('li', {}, element('p', { class: 'nearest-text', dir: 'auto' }, text), codeChips(codes)),
  )
  const isOpen = !matchMedia(NARROW).matches
  return element('details', { class: 'nearest', open: isOpen }, element('summary', {}, 'Nearest coded answers'), element('ol', {}, ...rows))
}

function blindText() {
  return line(
    'This answer was drawn at random to check the machine, so its suggestion is hidden: ' +
      'a decision that has seen the suggestion would make it look better than it is.',
  )
}

/**
 * @param {string} text
 * @param {string} [style]
 */
function line(text, style = '') {
  return element('p', { class: style || null, dir: 'auto' }, text)
}

/** @param {string} words */
function sentence(words) {
  return words ? `${words[0].toUpperCase()}${words.slice(1)}.` : ''
}
