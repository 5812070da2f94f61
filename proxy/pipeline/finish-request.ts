import { performance } from 'node:perf_hooks';

import type { GatewayRoute } from '../configuration/routing-table.ts';
import type { Forwarded } from '../forwarding/forwarded.ts';
import type { GatewayRequest } from '../http/gateway-request.ts';
import type { SentResponse } from '../http/send-response.ts';
import type { AccessLog } from '../telemetry/access-log.ts';

/** A request or WebSocket that is over, and what was known of it by then. */
export interface FinishedRequest {
  readonly requestId: string;
  /** When it began, by `performance.now()`. */
  readonly startedAt: number;
  /** Absent if its head could not be parsed. */
  readonly request: GatewayRequest | undefined;
  /** Absent if none was matched. */
  readonly route: GatewayRoute | undefined;
  /** The gateway's own response, or a forwarded one. Absent if the client got none. */
  readonly sent: SentResponse | Forwarded | undefined;
}

/** Records a request that is over, however it ended. */
export function finishRequest(
  { requestId, startedAt, request, route, sent }: FinishedRequest,
  { accessLog }: { readonly accessLog: Pick<AccessLog, 'write'> | undefined },
): void {
  if (accessLog !== undefined) {
    const durationMs = performance.now() - startedAt;
    const name = route?.compiled.name;
    accessLog.write({ requestId, request, route: name, response: sent, durationMs });
  }
}
