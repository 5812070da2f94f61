import { Buffer } from 'node:buffer';

import type { Script } from './scripted-authorization-server.ts';

const HTML = { 'content-type': 'text/html' };
const DRIP_MS = 50;

/** Never sends a response. */
export const hangs: Script = () => 'hang';

/** Sends the response byte by byte, and never the last one. */
export const drips: Script = ({ response }) => {
  response.writeHead(200, { 'content-type': 'application/json' });
  const drip = setInterval(() => response.write(' '), DRIP_MS);
  response.once('close', () => {
    clearInterval(drip);
  });
  return 'hang';
};

/** Fails with a status, and with a body that must appear nowhere. */
export function failsWith(status: number, body = 'private words of the server'): Script {
  return () => ({ status, headers: HTML, body });
}

/** Sends a page in place of JSON, as servers behind a broken balancer do. */
export const sendsHtml: Script = () => ({ status: 200, headers: HTML, body: '<h1>Welcome</h1>' });

/** Sends the right response and as many bytes more, as JSON. */
export function sendsBytes(length: number): Script {
  return (_request, { status, body }) => ({
    ...(status !== undefined && { status }),
    body: { ...Object(body), padding: Buffer.alloc(length, 'x').toString() } as object,
  });
}

/** Sends other members in the right response; undefined takes one away. */
export function sendsMembers(members: Readonly<Record<string, unknown>>): Script {
  return (_request, right) => ({ ...right, body: { ...Object(right.body), ...members } as object });
}

/** Sends the right members as a form, as a few servers still do. */
export const sendsForm: Script = (_request, { body }) => ({
  status: 200,
  headers: { 'content-type': 'application/x-www-form-urlencoded' },
  // The members of token responses are texts and numbers.
  body: new URLSearchParams(body as Record<string, string>).toString(),
});

/** Sends an OAuth error with the status of success. */
export function sendsError(error: string, status = 200): Script {
  return () => ({ status, body: { error, error_description: 'private words of the server' } });
}

/** Redirects to a URL, or to the same one for ever. */
export function redirects(location?: string, status = 302): Script {
  return ({ url }) => ({ status, headers: { location: location ?? url.href }, body: '' });
}
