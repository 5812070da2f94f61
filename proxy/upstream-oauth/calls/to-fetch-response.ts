import { OutboundFailedError } from '../../outbound/outbound-errors.ts';
import type { OutboundResponse } from '../../outbound/pinned-request.ts';

const MIN_STATUS = 200;
const MAX_STATUS = 599;

/** Statuses whose responses have no body, even if the server sent one (Fetch, section 2.2.3). */
const WITHOUT_BODY: readonly number[] = [204, 205, 304];

/** Returns a response as `fetch` does. Rejects one that `fetch` could not return. */
export function toFetchResponse({ status, headers, body }: OutboundResponse): Response {
  if (status < MIN_STATUS || status > MAX_STATUS) {
    throw new OutboundFailedError('connection', `the response has status ${String(status)}`);
  }
  const fields = Object.entries(headers).flatMap(([name, value]) =>
    [value ?? []].flat().map((single): [string, string] => [name, single]),
  );
  const content = WITHOUT_BODY.includes(status) ? null : new Uint8Array(body);
  return new Response(content, { status, headers: fields });
}
