import type { NativeProgram, ServerOptions } from '../support/native-program.ts';
import { startNginx } from '../support/nginx.ts';

/** Starts nginx with the defaults of forwarding. It logs to a file, in batches. */
export function startForwardingNginx(options: ServerOptions): Promise<NativeProgram> {
  return startNginx(options, {
    connections: 1024,
    http: `
  access_log nginx.log combined buffer=64k flush=1s;
  keepalive_requests 100000000;`,
    upstream: `
    keepalive 256;
    keepalive_requests 100000000;`,
    location: 'proxy_set_header Host $host;',
  });
}
