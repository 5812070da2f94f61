import type { RequestMessage } from '../../http/request-message.ts';
import type { StreamedBody } from '../../upstream-client/outgoing-request.ts';
import { mayTrail } from '../foreign-fields.ts';
import { upstreamTrailers } from './upstream-headers.ts';

/** Returns the body of a client's message for the upstream, with its length or with its trailer fields. */
export function streamedBody(message: RequestMessage): StreamedBody {
  const { headers } = message;
  const length = headers['content-length'];
  if (length !== undefined) return { source: message, length: Number(length) };
  // Trailers that were not announced are dropped.
  if (headers.trailer === undefined) return { source: message };
  return {
    source: message,
    trailers: {
      announced: announcedTrailers(headers.trailer),
      read: () => upstreamTrailers(message.rawTrailers),
    },
  };
}

function announcedTrailers(field: string): string {
  const names = field.split(',').map((name) => name.trim());
  return names.filter(mayTrail).join(', ');
}
