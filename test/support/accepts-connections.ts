import { once } from 'node:events';
import { connect } from 'node:net';

import type { ListenAddress } from '../../shared/runtime/listen-address.ts';

/** Returns whether something accepts connections at an address. */
export async function acceptsConnections({ host, port }: ListenAddress): Promise<boolean> {
  const socket = connect(port, host);
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
