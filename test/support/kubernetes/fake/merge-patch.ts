import { isObject, mapMembers, type Json, type JsonObject } from './json.ts';

/** RFC 7386: members of the patch replace those of the target, and null removes them. */
export function mergePatch(target: Json | undefined, patch: JsonObject): JsonObject {
  const base = isObject(target) ? target : {};
  const changes = Object.entries(patch).map(([name, value]) => {
    if (value === null) return [name, undefined] as const;
    return [name, isObject(value) ? mergePatch(base[name], value) : value] as const;
  });
  return mapMembers({ ...base, ...Object.fromEntries(changes) }, (value) => value);
}
