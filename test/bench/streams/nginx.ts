import type { NativeProgram, ServerOptions } from '../support/native-program.ts';
import { startNginx } from '../support/nginx.ts';

/** Starts nginx with all buffers as it comes: it keeps what a client is slow to take, and whole uploads. */
export function startDefaultNginx(options: ServerOptions): Promise<NativeProgram> {
  return startNginx(options, {
    connections: 512,
    http: 'access_log off; client_max_body_size 0;',
    upstream: 'keepalive 16;',
    location: '',
  });
}

/**
 * Starts nginx as a proxy that passes on in both directions what it has, and keeps nothing in files. Its
 * buffers are as long as a usual read: with the 8 KiB that it has by default, it makes more system calls.
 */
export function startStreamingNginx(options: ServerOptions): Promise<NativeProgram> {
  return startNginx(options, {
    connections: 9000,
    http: `
  access_log off;
  client_max_body_size 0;
  client_body_buffer_size 64k;
  proxy_buffer_size 64k;
  proxy_buffers 8 64k;
  proxy_busy_buffers_size 128k;`,
    upstream: 'keepalive 16;',
    location: `
      proxy_buffering off;
      proxy_request_buffering off;
      proxy_read_timeout 1h;`,
  });
}
