import type { Trace } from '../../shared/telemetry/tracing/trace.ts';
import type { RequestMessage } from './request-message.ts';

/** One request as the pipeline sees it: parsed once, byte for byte what the client sent. */
export interface GatewayRequest {
  /** Made by the gateway, never by the client; in every log record and error of the request. */
  readonly id: string;
  readonly method: string;
  /** Raw path of the request target, without the query. Starts with `/`. */
  readonly path: string;
  /** Raw query with its `?`, or an empty text. */
  readonly query: string;
  /** The `Host` header in lower case, with its port if it has one. */
  readonly authority: string;
  /** Address of the client: the other end of the connection, or the client behind trusted proxies. */
  readonly remoteAddress: string;
  /** The message itself: headers, raw headers, and the body, still unread. */
  readonly message: RequestMessage;
  /** Undefined while tracing is off. */
  readonly trace?: Trace | undefined;
}
