import {
  FOREIGN_REQUEST_FIELDS,
  FOREIGN_RESPONSE_FIELDS,
  foldFieldName,
  GATEWAY_REQUEST_FIELDS,
  isInFieldList,
} from '../../shared/snapshot/header-fields.ts';
import { isHopByHop } from './hop-by-hop.ts';

/**
 * Who may write a field: `gateway` alone, another gateway if the route lets it (`foreign`), or any sender.
 */
export type FieldOwner = 'gateway' | 'foreign' | 'sender';

/** Returns who may write a request field of this lower-case name, in any spelling. */
export function ownerOfRequestField(lower: string): FieldOwner {
  const folded = foldFieldName(lower);
  if (isInFieldList(GATEWAY_REQUEST_FIELDS, folded)) return 'gateway';
  return isInFieldList(FOREIGN_REQUEST_FIELDS, folded) ? 'foreign' : 'sender';
}

/** Most names repeat in every response. The bound is for names that upstreams make up. */
const MAX_KNOWN_OWNERS = 1_000;
const knownOwners = new Map<string, FieldOwner>();

/** Returns who may write a response field of this lower-case name. */
export function ownerOfResponseField(lower: string): FieldOwner {
  const known = knownOwners.get(lower);
  if (known !== undefined) return known;
  const isForeign = isInFieldList(FOREIGN_RESPONSE_FIELDS, lower);
  const owner = isHopByHop(lower) ? 'gateway' : isForeign ? 'foreign' : 'sender';
  if (knownOwners.size < MAX_KNOWN_OWNERS) knownOwners.set(lower, owner);
  return owner;
}

/** Returns whether a trailer field of this name is passed on, in either direction. */
export function mayTrail(name: string): boolean {
  const lower = name.toLowerCase();
  return (
    ownerOfRequestField(lower) === 'sender' &&
    !isInFieldList(FOREIGN_RESPONSE_FIELDS, lower) &&
    !NEVER_TRAILS.has(lower)
  );
}

const NEVER_TRAILS: ReadonlySet<string> = new Set([
  'content-encoding',
  'content-range',
  'content-type',
  'set-cookie',
  'www-authenticate',
]);
