import { isRecord } from '../../shared/runtime/is-record.ts';

/** The class of a resource without a class, as in the definitions. */
const DEFAULT_CLASS = 'gatehouse';

/** Whether a spec is of a class; true for every spec if no class is given. */
export function isOfClass(spec: unknown, gatewayClassName: string | undefined): boolean {
  if (gatewayClassName === undefined) return true;
  const named = isRecord(spec) ? spec['gatewayClassName'] : undefined;
  return (named ?? DEFAULT_CLASS) === gatewayClassName;
}
