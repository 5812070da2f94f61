import type { RequestListener } from 'node:http';

import type {
  ResponsePlanner,
  RelayPlan,
  UpstreamResponse,
} from '../../proxy/forwarding/response/response-plan.ts';

/** A request without a body. */
export const GET = 'GET /x HTTP/1.1\r\nHost: app.test\r\n\r\n';

/** Relays the upstream's answer unchanged. */
export const RELAY: RelayPlan = { kind: 'relay', headers: { remove: new Set(), add: [] } };

/** Answers 401 to the first request, and `ok` with the request's body to all others. */
export function refuseFirst(): RequestListener {
  let count = 0;
  return (message, response) => {
    count += 1;
    const isFirst = count === 1;
    const chunks: Buffer[] = [];
    message.on('data', (chunk: Buffer) => chunks.push(chunk));
    message.on('end', () => {
      response.writeHead(isFirst ? 401 : 200);
      response.end(isFirst ? 'who are you?' : `ok ${Buffer.concat(chunks).toString()}`);
    });
  };
}

/** Sends a request again if the upstream answers 401 and the request can be repeated. */
export function repeatRefused(
  again: Parameters<NonNullable<UpstreamResponse['repeat']>>[0],
): ResponsePlanner {
  return ({ status, repeat }) => (status === 401 ? (repeat?.(again) ?? RELAY) : RELAY);
}

/** Makes the same decision asynchronously. */
export function later(plan: ResponsePlanner): ResponsePlanner {
  return async (answer) => {
    await new Promise((resolve) => setTimeout(resolve, 20));
    return plan(answer);
  };
}
