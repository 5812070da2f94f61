import { ENVIRONMENT_PLACE, formatProblem } from '../../controller/files/located-problem.ts';
import type { Loaded } from '../../controller/files/load-configuration.ts';
import type { Arguments } from '../arguments.ts';
import type { CommandStreams } from '../command.ts';
import { load } from '../process/load.ts';

/** Runs `gatehouse validate`: prints everything that is wrong with a configuration. */
export async function runValidate(flags: Arguments, streams: CommandStreams): Promise<number> {
  const { environment, stdout } = streams;
  const path = flags.text('file') ?? '';
  const devAllowLoopback = flags.isOn('dev-allow-loopback');
  const loaded = await load({ path, environment, devAllowLoopback, takesServicesUnseen: true });
  const { problems } = loaded;
  const lines = [
    ...problems.map(formatProblem),
    ...notes(loaded).map((note) => `${path}: ${note}`),
    `${path}: ${summary(loaded)}`,
  ];
  stdout.write(lines.map((line) => `${line}\n`).join(''));
  return problems.length > 0 || isEmpty(loaded) ? 1 : 0;
}

function isEmpty({ contents }: Loaded): boolean {
  return contents.files.every(({ parsed }) => parsed.documents.length === 0);
}

/** What this command cannot check. */
function notes({ accepted }: Loaded): readonly string[] {
  const routes = [...(accepted?.selection.routes.values() ?? [])];
  const referring = routes.filter(({ resource }) => resource.spec.backendRefs !== undefined).length;
  if (referring === 0) return [];
  return [
    `note: backendRefs of ${count(referring, 'Route')} not checked: there are Services in Kubernetes only`,
  ];
}

function summary(loaded: Loaded): string {
  const { problems, accepted } = loaded;
  if (problems.length > 0) return count(problems.length, 'problem');
  if (isEmpty(loaded) || accepted === undefined) return 'nothing to validate';
  const { routes, settings, secrets } = accepted.selection;
  const counts = [
    [routes.size, 'Route'],
    [secrets.size, 'Secret'],
  ] as const;
  const found = [
    ...counts.filter(([number]) => number > 0).map(([number, what]) => count(number, what)),
    ...(settings === undefined || settings.file === ENVIRONMENT_PLACE ? [] : ['GatewaySettings']),
  ];
  return `no problems (${found.join(', ')})`;
}

function count(number: number, what: string): string {
  return `${String(number)} ${what}${number === 1 ? '' : 's'}`;
}
