import { freePort } from '../../support/free-port.ts';
import type { TemporaryDirectory } from '../../support/temporary-directory.ts';
import { startNative, type NativeProgram } from '../support/native-program.ts';

/** Where nginx is started, and what it forwards to. */
interface StreamingNginxOptions {
  readonly core: number;
  readonly upstreamPort: number;
  readonly directory: TemporaryDirectory;
}

/**
 * Starts nginx as a proxy that passes on in both directions what it has, and keeps nothing in files. Its
 * buffers are as long as a usual read: with the 8 KiB that it has by default, it makes more system calls.
 */
export async function startStreamingNginx(
  program: string,
  { core, upstreamPort, directory }: StreamingNginxOptions,
): Promise<NativeProgram> {
  const port = await freePort();
  const file = await directory.write('nginx.conf', configuration(port, upstreamPort));
  const command = [program, '-e', 'stderr', '-p', directory.path, '-c', file];
  return startNative(command, { core, port, stdout: process.stdout.fd });
}

function configuration(port: number, upstreamPort: number): string {
  return `
daemon off;
master_process off;
pid nginx.pid;
error_log stderr crit;
events { worker_connections 9000; }
http {
  access_log off;
  client_body_temp_path nginx-body;
  proxy_temp_path nginx-proxy;
  fastcgi_temp_path nginx-fastcgi;
  uwsgi_temp_path nginx-uwsgi;
  scgi_temp_path nginx-scgi;
  client_max_body_size 0;
  client_body_buffer_size 64k;
  proxy_buffer_size 64k;
  proxy_buffers 8 64k;
  proxy_busy_buffers_size 128k;
  upstream bench { server 127.0.0.1:${String(upstreamPort)}; keepalive 16; }
  server {
    listen 127.0.0.1:${String(port)};
    location / {
      proxy_pass http://bench;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_buffering off;
      proxy_request_buffering off;
      proxy_read_timeout 1h;
    }
  }
}
`;
}
