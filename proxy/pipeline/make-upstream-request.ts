import {
  upstreamHeaders,
  type UpstreamCredentials,
} from '../forwarding/request/upstream-headers.ts';
import type { UpstreamRequest } from '../forwarding/request/upstream-request.ts';
import { upstreamPath } from '../forwarding/upstream-path.ts';
import type { ChosenUpstream } from './choose-upstream.ts';
import type { Permit } from './permit.ts';

/**
 * Makes the request for the upstream from the permitted one: its URL, the client's header fields
 * without those that only the gateway may write, its credentials, and the body that policy saw.
 */
export function makeUpstreamRequest(
  { request, route, body }: Permit,
  credentials: UpstreamCredentials,
  { origin, choice }: ChosenUpstream,
): UpstreamRequest {
  const { compiled } = route;
  // eslint-disable-next-line @typescript-eslint/no-unsafe-class-instance-assignment -- the one place that makes the brand
  return {
    request,
    origin,
    choice,
    path: upstreamPath(compiled, request),
    headers: upstreamHeaders(request, compiled, credentials),
    passResponseHeaders: compiled.passResponseHeaders,
    body: body?.bytes ?? (compiled.mcpServer === undefined ? 'stream' : 'none'),
    responseTimeoutMs: compiled.responseTimeoutMs,
  } as UpstreamRequest;
}
