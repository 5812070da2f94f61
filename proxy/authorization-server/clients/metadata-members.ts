import { InvalidClientMetadataError } from '../../errors/oauth-errors.ts';
import type { JsonObject } from '../../json/json-object.ts';

/** Reads a member that must be a string if it is present. Some clients send `null` for absent. */
export function text(members: JsonObject, name: string): string | undefined {
  const value = members[name] ?? undefined;
  if (value === undefined || typeof value === 'string') return value;
  throw new InvalidClientMetadataError(`${name} must be a string`);
}

/** Reads a member that must be a list of strings if it is present. */
export function strings(members: JsonObject, name: string): readonly string[] | undefined {
  const value = members[name] ?? undefined;
  if (value === undefined || isStrings(value)) return value;
  throw new InvalidClientMetadataError(`${name} must be an array of strings`);
}

function isStrings(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((member) => typeof member === 'string');
}
