// Requests to the server, and the shapes of what it sends.

/** @typedef {{code: string, name: string, description: string, new: boolean}} Code */
/**
 * @typedef {object} Study
 * @property {string} coder
 * @property {string} table
 * @property {string} model
 * @property {string} store_id
 * @property {string} [store] the file's name
 * @property {number} n_items
 * @property {Code[]} codes
 * @property {string[]} text
 * @property {string[]} show
 * @property {number} target
 * @property {number} confidence
 * @property {string} measure
 * @property {boolean} blind
 * @property {number} every
 * @property {Settings} settings
 * @property {string} version
 */
/**
 * @typedef {object} Settings
 * @property {'alike' | 'unsure' | 'file'} [order]
 * @property {'likely' | 'fixed'} [codes]
 * @property {'again' | 'leave'} [others]
 * @property {Record<string, string>} [keys]
 * @property {boolean} [keys_on]
 * @property {'auto' | 'light' | 'dark'} [theme]
 * @property {number} [at]
 */
/**
 * @typedef {object} Progress
 * @property {number} n_queue
 * @property {number} n_done
 * @property {number} n_open
 * @property {number} n_skipped
 * @property {number} n_flagged
 * @property {number} n_disagree
 * @property {number | null} seconds_left
 */
/**
 * @typedef {object} Machine
 * @property {number} n_auto
 * @property {number} n_people
 * @property {number} n_open
 * @property {number} n_newly_auto
 * @property {number} share
 * @property {number} target
 */
/**
 * @typedef {object} Audit
 * @property {number} n_drawn
 * @property {number} n_left
 * @property {number} n_checked
 * @property {number} n_right
 * @property {number | null} accuracy
 * @property {number | null} low
 * @property {number | null} high
 * @property {number} target
 * @property {string} verdict
 * @property {number | null} needed
 * @property {string} text
 */
/**
 * @typedef {object} Status
 * @property {number} seq
 * @property {number} round
 * @property {{state: 'idle' | 'running' | 'failed', message: string, since: number, every: number}} learning
 * @property {Progress} progress
 * @property {Machine} machine
 * @property {Audit | null} audit
 */
/**
 * @typedef {object} Suggestion
 * @property {number} round
 * @property {string} status
 * @property {string[]} codes
 * @property {number | null} chance
 * @property {number} theta
 * @property {string} doubt_words
 * @property {string} why
 * @property {string[][]} next
 * @property {{text: string, codes: string[]}[]} nearest
 * @property {string[]} likely
 */
/**
 * @typedef {object} ItemView
 * @property {number} item
 * @property {string} text
 * @property {[string, string][]} show
 * @property {'open' | 'done' | 'skipped'} state
 * @property {string[] | null} codes
 * @property {boolean} flag
 * @property {string} note
 * @property {number} seen
 * @property {boolean} drawn
 * @property {boolean} blind
 * @property {Suggestion | null} suggestion
 * @property {string[] | null} given
 * @property {number} n_alike
 * @property {{coder: string, codes: string[], time: string}[]} others
 * @property {boolean} settled
 */
/** @typedef {'code' | 'skip' | 'flag' | 'unflag' | 'settle'} Action */

/** The server's answer to a request that it refused. */
export class ApiError extends Error {
  /**
   * @param {number} status
   * @param {any} body
   */
  constructor(status, body) {
    super(body?.error ?? `The server answered with status ${status}.`)
    this.status = status
    this.body = body
    /** @type {string} */
    this.hint = body?.hint ?? ''
  }
}

/**
 * Ask for something; a request that gets no answer throws a TypeError, as fetch does.
 *
 * @param {string} path
 * @param {Record<string, string | number>} [params]
 * @returns {Promise<any>}
 */
export function get(path, params = {}) {
  const query = new URLSearchParams(Object.entries(params).map(([k, v]) => [k, String(v)]))
  return request(query.size ? `${path}?${query}` : path, {})
}

/**
 * Send something.
 *
 * @param {'POST' | 'PUT'} method
 * @param {string} path
 * @param {object} body
 * @param {RequestInit} [options]
 * @returns {Promise<any>}
 */
export function send(method, path, body, options = {}) {
  const headers = { 'Content-Type': 'application/json' }
  return request(path, { method, headers, body: JSON.stringify(body), ...options })
}

/**
 * @param {string} address
 * @param {RequestInit} options
 */
async function request(address, options) {
  const answer = await fetch(address, { credentials: 'same-origin', cache: 'no-store', ...options })
  const body = await answer.json().catch(() => ({}))
  if (!answer.ok) throw new ApiError(answer.status, body)
  return body
}
