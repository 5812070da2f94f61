import {
  FOREIGN_REQUEST_FIELDS,
  FOREIGN_RESPONSE_FIELDS,
  foldFieldName,
  GATEWAY_REQUEST_FIELDS,
  GATEWAY_RESPONSE_FIELDS,
} from '../../shared/snapshot/header-fields.ts';
import { isHopByHop } from './hop-by-hop.ts';

/**
 * Who may write a field: `gateway` alone, another gateway if the route lets it (`foreign`), or any sender.
 */
export type FieldOwner = 'gateway' | 'foreign' | 'sender';

/** Returns who may write a request field of this lower-case name, in any spelling. */
export function ownerOfRequestField(lower: string): FieldOwner {
  const folded = foldFieldName(lower);
  if (GATEWAY_REQUEST_FIELDS.has(folded)) return 'gateway';
  return FOREIGN_REQUEST_FIELDS.has(folded) ? 'foreign' : 'sender';
}

/**
 * Returns who may write a response field of this lower-case name. The fields of the gateway that upstreams
 * write too, such as `Set-Cookie`, have rules of their own.
 */
export function ownerOfResponseField(lower: string): FieldOwner {
  if (isHopByHop(lower)) return 'gateway';
  if (FOREIGN_RESPONSE_FIELDS.has(lower)) return 'foreign';
  const isOfGateway = GATEWAY_RESPONSE_FIELDS.prefixes.some((prefix) => lower.startsWith(prefix));
  return isOfGateway ? 'gateway' : 'sender';
}

/** Returns whether a field of early hints is passed on. */
export function mayHint(name: string): boolean {
  const lower = name.toLowerCase();
  return (
    !GATEWAY_RESPONSE_FIELDS.has(lower) &&
    !FOREIGN_RESPONSE_FIELDS.has(lower) &&
    // Only the final response asks for credentials, and there it may be removed.
    lower !== 'www-authenticate'
  );
}

/** Returns whether a trailer field of this name is passed on, in either direction. */
export function mayTrail(name: string): boolean {
  const lower = name.toLowerCase();
  return (
    ownerOfRequestField(lower) === 'sender' &&
    !FOREIGN_RESPONSE_FIELDS.has(lower) &&
    !NEVER_TRAILS.has(lower)
  );
}

const NEVER_TRAILS: ReadonlySet<string> = new Set([
  'content-encoding',
  'content-range',
  'content-type',
  'set-cookie',
  // The trace of a request is named in its header, by the gateway.
  'traceparent',
  'tracestate',
  'www-authenticate',
]);
