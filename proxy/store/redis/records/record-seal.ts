import type { Sealed, Sealer } from '../../../crypto/sealer.ts';
import type { Guard } from './guards.ts';
import type { KeyKind } from './keys.ts';
import { UnreadableRecordError } from './unreadable-record-error.ts';

/** Separates records from other text that is sealed with the same keys. */
const CONTEXT = 'redis';

/** Seals records of one kind as JSON. A record opens only at the location for which it was sealed. */
export class RecordSeal<Value> {
  readonly #sealer: Sealer;
  readonly #kind: KeyKind;
  readonly #isValue: Guard<Value>;

  constructor(sealer: Sealer, kind: KeyKind, isValue: Guard<Value>) {
    this.#sealer = sealer;
    this.#kind = kind;
    this.#isValue = isValue;
  }

  /** `location` is the whole key, and for a hash also the field. */
  seal(location: string, value: Value): Sealed {
    return this.#sealer.seal(JSON.stringify(value), `${CONTEXT} ${location}`);
  }

  /** Returns false if a key that will be removed sealed the record, so that it must be sealed again. */
  isFresh(sealed: string): boolean {
    return this.#sealer.isSealedByFirst(sealed);
  }

  /**
   * Opens a record. Throws an `UnreadableRecordError` if it does not open or is of a different
   * kind.
   */
  open(location: string, sealed: string): Value {
    const text = this.#sealer.open(sealed, `${CONTEXT} ${location}`);
    const value = text === null ? undefined : parse(text);
    if (!this.#isValue(value)) throw new UnreadableRecordError(this.#kind);
    return value;
  }
}

/** Undefined if the text is not JSON. The parser's error would quote it. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
