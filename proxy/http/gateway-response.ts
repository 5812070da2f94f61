import type { OutgoingHttpHeaders } from 'node:http';

/** A whole response of the gateway's own. */
export interface GatewayResponse {
  readonly status: number;
  readonly headers: OutgoingHttpHeaders;
  readonly body: string;
}
