import type { OutgoingHttpHeaders } from 'node:http';

/** A response that the gateway itself makes. */
export interface GatewayResponse {
  readonly status: number;
  readonly headers: OutgoingHttpHeaders;
  readonly body: string;
}
