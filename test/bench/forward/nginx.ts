import { freePort } from '../../support/free-port.ts';
import type { TemporaryDirectory } from '../../support/temporary-directory.ts';
import { startNative, type NativeProgram } from '../support/native-program.ts';

/** Where Debian's package puts nginx. */
export const NGINX = '/usr/sbin/nginx';

/** How a server of a Debian package is started. */
export interface ServerOptions {
  readonly core: number;
  readonly upstreamPort: number;
  readonly directory: TemporaryDirectory;
  /** File descriptor that becomes its stdout. */
  readonly stdout: number;
}

/** Starts nginx, which forwards every request and checks nothing. It logs to a file, in batches. */
export async function startNginx(options: ServerOptions): Promise<NativeProgram> {
  const { upstreamPort, directory } = options;
  const port = await freePort();
  const file = await directory.write('nginx.conf', configuration(port, upstreamPort));
  const command = [NGINX, '-e', 'stderr', '-p', directory.path, '-c', file];
  return startNative(command, { ...options, port });
}

function configuration(port: number, upstreamPort: number): string {
  return `
daemon off;
master_process off;
pid nginx.pid;
error_log stderr crit;
events { worker_connections 1024; }
http {
  access_log nginx.log combined buffer=64k flush=1s;
  client_body_temp_path nginx-body;
  proxy_temp_path nginx-proxy;
  fastcgi_temp_path nginx-fastcgi;
  uwsgi_temp_path nginx-uwsgi;
  scgi_temp_path nginx-scgi;
  keepalive_requests 100000000;
  upstream mcp {
    server 127.0.0.1:${String(upstreamPort)};
    keepalive 256;
    keepalive_requests 100000000;
  }
  server {
    listen 127.0.0.1:${String(port)};
    location / {
      proxy_pass http://mcp;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_set_header Host $host;
    }
  }
}
`;
}
