import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

import { deriveBytes, type SealingKey, type SealingKeys } from './sealing-key.ts';

const ALGORITHM = 'aes-256-gcm';
const IV_BYTES = 12;
const TAG_BYTES = 16;
const KEY_BYTES = 32;
const KEY_ID_BYTES = 8;
const MINIMUM_BODY_BYTES = KEY_ID_BYTES + IV_BYTES + TAG_BYTES;

declare const isSealed: unique symbol;

/** A text that a `Sealer` of this process sealed. A sealed text from elsewhere is a plain string. */
export type Sealed = string & { readonly [isSealed]: true };

interface DerivedKey {
  readonly id: Buffer;
  readonly key: Buffer;
}

/**
 * Seals text so that only holders of the keys can read or change it (AES-256-GCM).
 *
 * The first key seals, every key opens. The context is authenticated with the text, so that text
 * sealed for one purpose or record does not open for a different one.
 */
export class Sealer {
  readonly #first: DerivedKey;
  readonly #keys: ReadonlyMap<string, DerivedKey>;

  constructor(keys: SealingKeys) {
    this.#first = derive(keys[0]);
    this.#keys = new Map(keys.map(derive).map((key) => [key.id.toString('hex'), key]));
  }

  /** Returns base64url of key id, nonce, ciphertext and tag. */
  seal(text: string, context: string): Sealed {
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv(ALGORITHM, this.#first.key, iv);
    cipher.setAAD(Buffer.from(context));
    const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
    const sealed = Buffer.concat([this.#first.id, iv, body, cipher.getAuthTag()]);
    // The one place that makes the brand.
    return sealed.toString('base64url') as Sealed;
  }

  /**
   * Returns whether the first key sealed the text. If not, the text must be sealed again before its key is
   * removed.
   */
  isSealedByFirst(sealed: string): boolean {
    return Buffer.from(sealed, 'base64url').subarray(0, KEY_ID_BYTES).equals(this.#first.id);
  }

  /** Returns the text; null if none of the keys sealed it for this context. */
  open(sealed: string, context: string): string | null {
    const bytes = Buffer.from(sealed, 'base64url');
    // Base64url has several spellings of one value; only one is accepted.
    if (bytes.length < MINIMUM_BODY_BYTES || bytes.toString('base64url') !== sealed) return null;
    const key = this.#keys.get(bytes.toString('hex', 0, KEY_ID_BYTES));
    if (key === undefined) return null;
    const iv = bytes.subarray(KEY_ID_BYTES, KEY_ID_BYTES + IV_BYTES);
    const decipher = createDecipheriv(ALGORITHM, key.key, iv);
    decipher.setAAD(Buffer.from(context));
    decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
    try {
      const body = bytes.subarray(KEY_ID_BYTES + IV_BYTES, -TAG_BYTES);
      return decipher.update(body, undefined, 'utf8') + decipher.final('utf8');
    } catch {
      // The tag does not match: the text was forged, or sealed for a different context.
      return null;
    }
  }
}

/** Returns the id of a key, which is part of everything it seals. It is not secret. */
export function sealingKeyId(key: SealingKey): string {
  return keyId(key).toString('hex');
}

function keyId(key: SealingKey): Buffer {
  return deriveBytes(key, 'gatehouse sealing key id', KEY_ID_BYTES);
}

function derive(key: SealingKey): DerivedKey {
  return {
    id: keyId(key),
    key: deriveBytes(key, 'gatehouse sealing key', KEY_BYTES),
  };
}
