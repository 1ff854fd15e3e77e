// Questions of the coding view: a note for a flag, and the name of a new code.

import { ApiError, send } from './api.js'
import { element, put } from './elements.js'

/** @typedef {import('./app.js').App} App */

/**
 * A note for a flag; false removes the flag, null leaves all as it is.
 *
 * @param {import('./api.js').ItemView} view
 * @returns {Promise<string | false | null>}
 */
export function askFlag(view) {
  const field = element('textarea', { rows: '3', maxlength: '2000', 'aria-label': 'Note', dir: 'auto' })
  field.value = view.note
  return ask('Flag this answer', (close) => {
    field.addEventListener('keydown', (event) => {
      if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return
      event.preventDefault()
      close(field.value.trim())
    })
    return [
      element('p', { class: 'muted' }, 'A note for yourself or others; it is in the exported table. It may be empty.'),
      field,
      element(
        'div',
        { class: 'dialog-actions' },
        button('Flag', () => close(field.value.trim()), 'primary'),
        view.flag && button('Remove the flag', () => close(false)),
        button('Cancel', () => close(null)),
      ),
    ]
  })
}

/**
 * Add a code to the study; returned is the code to switch on, or null.
 *
 * @param {App} app
 * @param {string} name
 * @returns {Promise<string | null>}
 */
export function askNewCode(app, name) {
  const field = element('input', { type: 'text', maxlength: '200', 'aria-label': 'Name of the new code', dir: 'auto', autocomplete: 'off' })
  field.value = name
  const said = element('div', { class: 'dialog-said', role: 'alert' })
  return ask('New code', (close) => {
    /** @param {boolean} sure */
    const add = async (sure) => {
      const code = field.value.trim()
      if (!code) return field.focus()
      try {
        const { codes } = await send('POST', '/api/codes', { code, sure })
        app.study.codes = codes
        close(code)
      } catch (error) {
        put(said, ...refused(error, close, () => add(true)))
        said.querySelector('button')?.focus()
      }
    }
    field.addEventListener('keydown', (event) => {
      if (event.key !== 'Enter' || event.repeat || event.isComposing) return
      event.preventDefault()
      void add(false)
    })
    const actions = element('div', { class: 'dialog-actions' }, button('Add', () => add(false), 'primary'), button('Cancel', () => close(null)))
    return [field, said, actions]
  })
}

/**
 * Why a code was not added, and what one can do then.
 *
 * @param {unknown} error
 * @param {(code: string) => void} use
 * @param {() => void} addAnyway
 */
function refused(error, use, addAnyway) {
  if (!(error instanceof ApiError)) {
    return [element('p', {}, 'The server cannot be reached. A new code needs it: try again later.')]
  }
  /** @type {string[]} */
  const like = error.body?.like ?? []
  const said = element('p', { dir: 'auto' }, [error.message, error.hint].filter(Boolean).join(' '))
  if (error.status !== 409 || !like.length) return [said]
  const known = like.map((code) => button(`Use “${code}”`, () => use(code)))
  return [said, element('div', { class: 'dialog-actions' }, ...known, button('Add it all the same', addAnyway))]
}

/**
 * A dialog that ends with an answer; Escape is null.
 *
 * @template T
 * @param {string} title
 * @param {(close: (answer: T | null) => void) => import('./elements.js').Child[]} content
 * @returns {Promise<T | null>}
 */
function ask(title, content) {
  return new Promise((resolve) => {
    /** @type {T | null} */
    let answer = null
    const dialog = element('dialog', { 'aria-label': title, class: 'ask' })
    /** @param {T | null} value */
    const close = (value) => {
      answer = value
      dialog.close()
    }
    dialog.addEventListener('close', () => {
      dialog.remove()
      resolve(answer)
    })
    put(dialog, element('h2', {}, title), ...content(close))
    document.body.append(dialog)
    dialog.showModal()
    const field = dialog.querySelector('textarea, input')
    if (field instanceof HTMLElement) field.focus()
  })
}

/**
 * @param {string} label
 * @param {() => void} act
 * @param {string} [style]
 */
function button(label, act, style = '') {
  return element('button', { type: 'button', class: style || null, on: { click: act } }, label)
}
