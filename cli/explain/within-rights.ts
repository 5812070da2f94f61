import {
  KubernetesApiError,
  type ResourceType,
} from '../../controller/kubernetes/kubernetes-api.ts';
import { describeError } from '../../shared/telemetry/describe-error.ts';
import { CommandFailure } from '../command-failure.ts';

/** A request to the API server, for messages. */
export interface ApiRead {
  readonly verb: 'get' | 'list';
  readonly type: ResourceType;
  readonly namespace?: string | undefined;
  readonly name?: string;
  /** All namespaces are read, where one could be. */
  readonly isEverywhere?: boolean;
}

const [UNAUTHORIZED, FORBIDDEN, NOT_FOUND] = [401, 403, 404];

/** Reads from the API server. Rejects with a `CommandFailure` that names the right that is missing. */
export async function withinRights<Result>(
  what: ApiRead,
  read: () => Promise<Result>,
): Promise<Result> {
  try {
    return await read();
  } catch (error) {
    throw new CommandFailure(explain(what, error), { cause: error });
  }
}

function explain(read: ApiRead, error: unknown): string {
  const { verb, type, namespace, name, isEverywhere } = read;
  const { group, plural, kind } = type;
  const resource = group === '' ? plural : `${plural}.${group}`;
  const everywhere = isEverywhere === true ? ' in all namespaces' : '';
  const where = namespace === undefined ? everywhere : ` in the namespace ${namespace}`;
  const code = error instanceof KubernetesApiError ? error.code : undefined;
  if (code === FORBIDDEN) {
    const hint = everywhere === '' ? '' : '; or name one of them with --namespace';
    return `you need the right to ${verb} ${resource}${where}${hint}`;
  }
  if (code === UNAUTHORIZED) return 'the API server does not accept your credentials';
  if (code === NOT_FOUND && name === undefined) {
    return `the cluster has no ${resource}: are the definitions of Gatehouse installed?`;
  }
  if (code === NOT_FOUND) return `there are no ${kind} ${name ?? ''}${where}`;
  return `cannot ${verb} ${resource}${where}: ${describeError(error)}`;
}
