import type { Route } from '../../crds/types.ts';
import { readBackendRefs } from './backends/backend-refs.ts';
import { made, invalid, type CompileResult } from './compile-result.ts';

/** The namespace of a route, and whether there are Services to refer to. */
interface Place {
  readonly namespace: string;
  readonly hasServices: boolean;
}

const HTTP_PORT = 80;

/** Compiles the upstream URL, without a trailing slash: `to`, or the first Service. */
export function compileUpstream(
  spec: Route['spec'],
  { namespace, hasServices }: Place,
): CompileResult<string> {
  if (spec.to !== undefined) return compileTo(spec.to);
  const [first] = readBackendRefs(spec, namespace);
  if (first === undefined) {
    return invalid('spec', 'InvalidSpec', 'exactly one of to and backendRefs must be set');
  }
  if (!hasServices) {
    const message = 'Services exist only in Kubernetes; use `to`';
    return invalid('spec.backendRefs', 'UnsupportedValue', message);
  }
  const port = first.port === HTTP_PORT ? '' : `:${String(first.port)}`;
  return made(`http://${first.name}.${first.namespace}.svc${port}`);
}

function compileTo(to: string): CompileResult<string> {
  const url = URL.parse(to);
  const isHttp = url?.protocol === 'http:' || url?.protocol === 'https:';
  if (url === null || !isHttp) {
    return invalid('spec.to', 'InvalidSpec', 'must be an http or https URL');
  }
  // Messages do not repeat the value, which may contain a password.
  if (url.username !== '' || url.password !== '') {
    return invalid('spec.to', 'InvalidSpec', 'must not contain a user or password');
  }
  if (/[?#]/.test(to)) {
    return invalid('spec.to', 'InvalidSpec', 'must not have a query or a fragment');
  }
  return made(url.origin + url.pathname.replace(/\/+$/, ''));
}
