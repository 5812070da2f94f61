/** What the Bearer challenge of an upstream says. */
export interface UpstreamChallenge {
  /** URL of the protected resource metadata (RFC 9728, section 5.1). */
  readonly resourceMetadata?: string;
  readonly scope?: string;
  readonly error?: string;
}

/** Longer ones are not read: no real challenge has so much to say. */
const MAX_LENGTH = 8192;

const SEPARATORS = /[\t ,]*/y;
const TOKEN = /[!#$%&'*+.^_`|~\w-]+/y;
const SPACES = /[\t ]*/y;
const EQUALS = /[\t ]*=[\t ]*/y;
const TOKEN_68 = /[\w.~+/-]+=*[\t ]*(?=,|$)/y;
const QUOTED = /"(?:[^"\\]|\\.)*"/y;
const END = /[\t ]*(?:,[\t ,]*|$)/y;

/**
 * Returns the Bearer challenge in the values of `WWW-Authenticate`; null if there is none. The first counts, of
 * challenges and of parameters with one name. What follows a syntax error in a value is not read.
 *
 * @see {@link https://www.rfc-editor.org/rfc/rfc9110#section-11.6.1 RFC 9110, section 11.6.1}
 */
export function parseBearerChallenge(values: readonly string[]): UpstreamChallenge | null {
  for (const value of values) {
    const parameters = value.length <= MAX_LENGTH ? bearerParameters(value) : undefined;
    if (parameters === undefined) continue;
    const resourceMetadata = parameters.get('resource_metadata');
    const scope = parameters.get('scope');
    const error = parameters.get('error');
    return {
      ...(resourceMetadata !== undefined && { resourceMetadata }),
      ...(scope !== undefined && { scope }),
      ...(error !== undefined && { error }),
    };
  }
  return null;
}

function bearerParameters(value: string): ReadonlyMap<string, string> | undefined {
  const text = new Scanner(value);
  text.take(SEPARATORS);
  for (;;) {
    const scheme = text.take(TOKEN);
    if (scheme === undefined) return undefined;
    const parameters = readParameters(text);
    if (scheme.toLowerCase() === 'bearer') return parameters;
    text.take(SEPARATORS);
  }
}

/** Reads up to the next scheme, which is a token without a `=` behind it. */
function readParameters(text: Scanner): ReadonlyMap<string, string> {
  const parameters = new Map<string, string>();
  text.take(SPACES);
  if (text.take(TOKEN_68) !== undefined && text.take(END) !== undefined) return parameters;
  for (;;) {
    const start = text.position;
    const name = text.take(TOKEN)?.toLowerCase();
    if (name === undefined || text.take(EQUALS) === undefined) {
      text.position = start;
      return parameters;
    }
    const value = text.take(TOKEN) ?? unquoted(text.take(QUOTED));
    if (value === undefined || text.take(END) === undefined) {
      text.giveUp();
      return parameters;
    }
    if (!parameters.has(name)) parameters.set(name, value);
  }
}

function unquoted(text: string | undefined): string | undefined {
  return text?.slice(1, -1).replace(/\\(.)/g, '$1');
}

class Scanner {
  readonly #text: string;
  position = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /** Returns what matches here, and moves behind it. */
  take(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.position;
    const [match] = pattern.exec(this.#text) ?? [];
    if (match !== undefined) this.position = pattern.lastIndex;
    return match;
  }

  giveUp(): void {
    this.position = this.#text.length;
  }
}
