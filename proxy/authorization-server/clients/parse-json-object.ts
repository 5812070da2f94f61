import type { JsonObject } from '../../json/json-object.ts';
import { isRecord } from '../../../shared/runtime/is-record.ts';

/** Parses a JSON object in UTF-8; null if the bytes are anything else. */
export function parseJsonObject(bytes: Buffer): JsonObject | null {
  try {
    const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
    return isRecord(value) ? value : null;
  } catch {
    // Not UTF-8, or not JSON: the parser's message would quote the text.
    return null;
  }
}
