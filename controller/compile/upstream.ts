import { made, refused, type Outcome } from './outcome.ts';

/** Normalises `to`: what requests are sent to, without a trailing slash. */
export function compileUpstream(to: string): Outcome<string> {
  const url = URL.parse(to);
  const isHttp = url?.protocol === 'http:' || url?.protocol === 'https:';
  if (url === null || !isHttp) {
    return refused('spec.to', 'InvalidSpec', 'must be an http or https URL');
  }
  // The value is not repeated in messages: a password may be in it.
  if (url.username !== '' || url.password !== '') {
    return refused('spec.to', 'InvalidSpec', 'must not contain a user or password');
  }
  if (/[?#]/.test(to)) {
    return refused('spec.to', 'InvalidSpec', 'must not have a query or a fragment');
  }
  return made(url.origin + url.pathname.replace(/\/+$/, ''));
}
