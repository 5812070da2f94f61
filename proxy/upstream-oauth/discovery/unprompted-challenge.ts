import { OutboundFailedError, OutboundRefusedError } from '../../outbound/outbound-errors.ts';
import type { UpstreamCallContext, UpstreamCalls } from '../calls/upstream-calls.ts';
import { parseBearerChallenge, type UpstreamChallenge } from './bearer-challenge.ts';

const UNAUTHORIZED = 401;

/** Only the status and the header are wanted: the body may be an event stream that does not end. */
const NO_BODY = 0;

/**
 * A request that changes nothing, makes no session, and needs a token almost everywhere. Some servers let
 * anyone initialize.
 */
const LIST_TOOLS = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} });

/**
 * Returns the challenge of an upstream for a request without a token; null if it has none. A connection that
 * starts in a browser comes before any 401, and the challenge alone may say where the metadata are, and which
 * scopes a client needs.
 */
export async function askForChallenge(
  upstreamUrl: string,
  calls: UpstreamCalls,
  context: UpstreamCallContext,
): Promise<UpstreamChallenge | null> {
  const request = {
    step: 'challenge',
    method: 'POST',
    accept: 'application/json, text/event-stream',
    headers: { 'content-type': 'application/json' },
    body: LIST_TOOLS,
    maxBytes: NO_BODY,
  } as const;
  try {
    const { status, headers } = await calls.send(upstreamUrl, request, context);
    const challenge = headers['www-authenticate'];
    if (status !== UNAUTHORIZED || challenge === undefined) return null;
    return parseBearerChallenge([challenge]);
  } catch (error) {
    // Whatever is wrong shows again where the metadata are asked for.
    if (error instanceof OutboundRefusedError || error instanceof OutboundFailedError) return null;
    throw error;
  }
}
