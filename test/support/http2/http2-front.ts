import type { ListenerLimits } from '../../../proxy/server/connections.ts';
import { createListener } from '../../../proxy/server/listener.ts';
import { listenBy, startFront, type Front, type FrontOptions } from '../front.ts';
import { createHttp2Listener } from './http2-listener.ts';

/** A front whose clients speak HTTP/2. */
export interface Http2Front extends Front {
  /** Statuses of what was answered as no request. */
  readonly refused: readonly number[];
}

/** Starts a front for HTTP/2 over TLS on a free port. */
export async function startHttp2Front(
  options: FrontOptions & { readonly limits?: Partial<ListenerLimits> },
): Promise<Http2Front> {
  const refused: number[] = [];
  listenBy((address, handlers, limits) =>
    createHttp2Listener(
      address,
      { ...handlers, refused: (_client, status) => void refused.push(status) },
      limits,
    ),
  );
  try {
    return Object.assign(await startFront(options), { refused });
  } finally {
    listenBy(createListener);
  }
}
