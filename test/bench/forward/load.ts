import { HttpLoad } from '../support/http-load.ts';
import { requestsOf, TOOL_RESULT, type Workload } from './workload.ts';

/** Requests to one subject. */
export interface Load {
  readonly port: number;
  readonly isTls?: boolean;
  readonly tokens: readonly string[];
  readonly connections: number;
  /** Absent: calls of a tool. */
  readonly workload?: Workload;
  /** Port in the `Host` header; absent: the port that is connected to. */
  readonly hostPort?: number;
}

/** Opens connections to a subject. */
export function openLoad(options: Load): Promise<HttpLoad> {
  const { port, tokens, connections, workload = 'mcp', hostPort = port } = options;
  const { isTls = false } = options;
  return HttpLoad.open({
    ...{ port, isTls, connections },
    requests: requestsOf(workload, `localhost:${String(hostPort)}`, tokens),
    responseBytes: Buffer.byteLength(TOOL_RESULT),
  });
}

/** Sends a fixed number of requests, with one in flight on each connection. */
export async function sendLoad({
  requests,
  ...options
}: Load & { readonly requests: number }): Promise<void> {
  using load = await openLoad(options);
  await load.send(requests);
}
