import type { Route } from '../../crds/types.ts';
import { readBackendRefs } from './backends/backend-refs.ts';
import { made, refused, type Outcome } from './outcome.ts';

/** Where a route stands, and whether there are Services to refer to. */
interface Place {
  readonly namespace: string;
  readonly hasServices: boolean;
}

const HTTP_PORT = 80;

/** Compiles what requests are sent to, without a trailing slash: `to`, or the first Service. */
export function compileUpstream(
  spec: Route['spec'],
  { namespace, hasServices }: Place,
): Outcome<string> {
  if (spec.to !== undefined) return compileTo(spec.to);
  const [first] = readBackendRefs(spec, namespace);
  if (first === undefined) {
    return refused('spec', 'InvalidSpec', 'exactly one of to and backendRefs must be set');
  }
  if (!hasServices) {
    const message = 'there are Services in Kubernetes only; use to';
    return refused('spec.backendRefs', 'UnsupportedValue', message);
  }
  const port = first.port === HTTP_PORT ? '' : `:${String(first.port)}`;
  return made(`http://${first.name}.${first.namespace}.svc${port}`);
}

function compileTo(to: string): Outcome<string> {
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
