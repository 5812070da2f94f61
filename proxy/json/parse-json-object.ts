import type { JsonObject } from './json-object.ts';
import { parseStrictJson, StrictJsonError } from './strict-json.ts';
import { isRecord } from '../../shared/runtime/is-record.ts';

/** A JSON object, or what is wrong with a text that should be one. */
export type ParsedJsonObject =
  | { readonly kind: 'object'; readonly members: JsonObject }
  /** `problem` follows a subject: "has a duplicate key". */
  | { readonly kind: 'problem'; readonly problem: string };

/**
 * Parses a JSON object in UTF-8 that all parsers read alike. Attack: of two members with one name, what a
 * person reviews or a filter reads may be the other one.
 */
export function parseJsonObject(bytes: Buffer): ParsedJsonObject {
  const text = decode(bytes);
  if (text === undefined) return { kind: 'problem', problem: 'is not UTF-8' };
  try {
    const value = parseStrictJson(text);
    if (isRecord(value)) return { kind: 'object', members: value };
    return { kind: 'problem', problem: 'is not a JSON object' };
  } catch (error) {
    if (!(error instanceof StrictJsonError)) throw error;
    return { kind: 'problem', problem: error.message };
  }
}

function decode(bytes: Buffer): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
