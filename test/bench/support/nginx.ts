import { freePort } from '../../support/free-port.ts';
import { startNative, type NativeProgram, type ServerOptions } from './native-program.ts';

/** Where Debian's package puts nginx. */
export const NGINX = '/usr/sbin/nginx';

/** What a benchmark asks of nginx: directives of its configuration, each with its semicolon. */
export interface NginxSettings {
  readonly connections: number;
  readonly http: string;
  readonly upstream: string;
  readonly location: string;
}

/** Starts nginx as one process, which forwards every request and checks nothing. */
export async function startNginx(
  options: ServerOptions,
  settings: NginxSettings,
): Promise<NativeProgram> {
  const { upstreamPort, directory } = options;
  const port = await freePort();
  const file = await directory.write(
    `nginx-${String(port)}.conf`,
    configuration(port, upstreamPort, settings),
  );
  const command = [NGINX, '-e', 'stderr', '-p', directory.path, '-c', file];
  return startNative(command, { ...options, port });
}

function configuration(
  port: number,
  upstreamPort: number,
  { connections, http, upstream, location }: NginxSettings,
): string {
  return `
daemon off;
master_process off;
pid nginx-${String(port)}.pid;
error_log stderr crit;
events { worker_connections ${String(connections)}; }
http {
  client_body_temp_path nginx-body;
  proxy_temp_path nginx-proxy;
  fastcgi_temp_path nginx-fastcgi;
  uwsgi_temp_path nginx-uwsgi;
  scgi_temp_path nginx-scgi;
  ${http}
  upstream bench {
    server 127.0.0.1:${String(upstreamPort)};
    ${upstream}
  }
  server {
    listen 127.0.0.1:${String(port)};
    location / {
      proxy_pass http://bench;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      ${location}
    }
  }
}
`;
}
