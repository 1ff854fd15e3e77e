// How far coders agree: in words, and code by code.

import { element } from './elements.js'

/** @typedef {import('./shapes.js').Agreement} Agreement */
/** @typedef {import('./shapes.js').Alpha} Alpha */

/**
 * Agreement in words, and code by code; without a second coder, how to get one.
 *
 * @param {Agreement | null} agreement
 * @param {boolean} isOpen whether the codes are shown at once
 * @returns {Node[]}
 */
export function agreementParts(agreement, isOpen) {
  const title = element('h3', {}, 'How far coders agree')
  if (!agreement || !agreement.n_answers) {
    const how =
      'Agreement can be told once two people have coded the same answers. The second one opens ' +
      'the same review with a name of their own (--coder NAME), or codes a copy, and nldd ' +
      'review merge joins both.'
    return [title, element('p', {}, how)]
  }
  const { coders, n_answers, n_same, masi, nominal } = agreement
  const share = percent(n_same / n_answers)
  const same =
    `${listText(coders)} coded ${n_answers.toLocaleString('en')} answers in common, ` +
    `and gave ${n_same.toLocaleString('en')} of them (${share}) exactly the same codes.`
  return [
    title,
    element('p', {}, same),
    element(
      'p',
      {},
      `Krippendorff's alpha is ${alphaText(masi)} where sets of codes may agree in part ` +
        `(MASI), and ${alphaText(nominal)} where they are the same or not. ` +
        `${alphaMeaning(masi.value)}`,
    ),
    element(
      'details',
      { open: isOpen },
      element('summary', {}, 'Agreement code by code'),
      codeTable(agreement),
    ),
  ]
}

/** @param {Agreement} agreement */
function codeTable({ coders, codes }) {
  // A code of which kappa cannot be told comes last.
  const sorted = [...codes].sort((a, b) => (a.kappa ?? 2) - (b.kappa ?? 2))
  const heads = ['Code', ...coders, 'Same', 'Kappa'].map((name) =>
    element('th', { scope: 'col', dir: 'auto' }, name),
  )
  const rows = sorted.map(({ code, counts, agreement, kappa }) =>
    element(
      'tr',
      {},
      element('th', { scope: 'row', dir: 'auto' }, code),
      ...counts.map((count) => element('td', { class: 'number' }, count.toLocaleString('en'))),
      element('td', { class: 'number' }, percent(agreement)),
      element('td', { class: 'number' }, kappa === null ? '–' : fixed(kappa)),
    ),
  )
  const caption = element(
    'caption',
    {},
    'The worst first. Kappa is 1 if coders always agree, and 0 if no more than by chance.',
  )
  const table = element(
    'table',
    { class: 'kappa-table' },
    caption,
    element('thead', {}, element('tr', {}, ...heads)),
    element('tbody', {}, ...rows),
  )
  return element(
    'div',
    { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': 'Agreement code by code' },
    table,
  )
}

/** @param {Alpha} alpha */
function alphaText({ value, low, high }) {
  if (value === null) return 'not known yet'
  const interval =
    low === null || high === null ? '' : ` (95 % interval ${fixed(low)} to ${fixed(high)})`
  return `${fixed(value)}${interval}`
}

/**
 * What an alpha is usually taken to mean (Krippendorff's own limits).
 *
 * @param {number | null} value
 */
function alphaMeaning(value) {
  if (value === null) return ''
  if (value >= 0.8) return 'From 0.8 on, codes are usually taken as reliable.'
  if (value >= 0.667) return 'Between 0.667 and 0.8, conclusions are usually called tentative.'
  return (
    'Below 0.667, codes are usually not relied on: talk about the codes at the top of the ' +
    'table first.'
  )
}

/** @param {number} value */
const fixed = (value) => value.toFixed(2).replace('-', '−')

/** @param {number} share */
const percent = (share) => `${Math.round(100 * share)} %`

/** @param {string[]} names */
const listText = (names) =>
  names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`
