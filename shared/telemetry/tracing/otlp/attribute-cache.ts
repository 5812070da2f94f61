import type { AttributeName, AttributeValue } from '../names.ts';

/** Beyond it, the cache starts anew. */
const MAX_ENTRIES = 1_024;
/** Longer texts are hardly ever the same again. */
const MAX_TEXT = 32;
/** Their values are hardly ever the same again either. */
const IDS: ReadonlySet<string> = new Set<AttributeName>([
  'gatehouse.request.id',
  'jsonrpc.request.id',
  'mcp.session.id',
]);
/** Some values are seen once: of those that are new, one in so many is remembered. */
const REMEMBERED = 16;

/**
 * Remembers how attributes were written, because most are the same in all spans of a route: copying one costs
 * half of writing it.
 */
export class AttributeCache {
  readonly #written = new Map<string, Map<AttributeValue, Uint8Array>>();
  #size = 0;
  #misses = 0;

  /** Returns an attribute as it was written; undefined if it is not known. */
  find(name: string, value: AttributeValue): Uint8Array | undefined {
    return mayRepeat(name, value) ? this.#written.get(name)?.get(value) : undefined;
  }

  /** Whether an attribute that was not known should be remembered. */
  wants(name: string, value: AttributeValue): boolean {
    this.#misses = (this.#misses + 1) % REMEMBERED;
    return this.#misses === 0 && mayRepeat(name, value);
  }

  /** Remembers how an attribute was written. */
  add(name: string, value: AttributeValue, written: Uint8Array): void {
    if (this.#size === MAX_ENTRIES) this.#clear();
    const values = this.#written.get(name) ?? new Map<AttributeValue, Uint8Array>();
    this.#written.set(name, values.set(copyOf(value), Uint8Array.from(written)));
    this.#size += 1;
  }

  #clear(): void {
    this.#written.clear();
    this.#size = 0;
  }
}

function mayRepeat(name: string, value: AttributeValue): boolean {
  if (typeof value === 'object' || IDS.has(name)) return false;
  return typeof value !== 'string' || value.length <= MAX_TEXT;
}

/** A text may be a part of the head of a request, which would stay in memory with it. */
function copyOf(value: AttributeValue): AttributeValue {
  return typeof value === 'string' ? Buffer.from(value, 'utf16le').toString('utf16le') : value;
}
