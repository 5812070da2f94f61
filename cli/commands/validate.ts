import { ENVIRONMENT_PLACE, formatProblem } from '../../controller/files/located-problem.ts';
import type { Loaded } from '../../controller/files/load-configuration.ts';
import type { Command } from '../command.ts';
import { DEV_ALLOW_LOOPBACK } from '../flags/dev-allow-loopback.ts';
import { load } from '../process/load.ts';

/** `gatehouse validate`: prints everything that is wrong with a configuration. */
export const VALIDATE: Command = {
  line: {
    name: 'validate',
    summary: 'Print every problem of a configuration',
    flags: {
      file: {
        kind: 'text',
        short: 'f',
        value: 'FILE|DIR',
        description:
          'Manifests or plain YAML, as `gatehouse run --config` takes them, or for a cluster.',
        isRequired: true,
      },
      'dev-allow-loopback': DEV_ALLOW_LOOPBACK,
    },
  },
  async run(flags, environment) {
    const path = flags.text('file') ?? '';
    const devAllowLoopback = flags.isOn('dev-allow-loopback');
    const loaded = await load({ path, environment, devAllowLoopback, takesServicesUnseen: true });
    const { problems } = loaded;
    const lines = [
      ...problems.map(formatProblem),
      ...notes(loaded).map((note) => `${path}: ${note}`),
      `${path}: ${summary(loaded)}`,
    ];
    process.stdout.write(lines.map((line) => `${line}\n`).join(''));
    return problems.length > 0 || isEmpty(loaded) ? 1 : 0;
  },
};

function isEmpty({ contents }: Loaded): boolean {
  return contents.files.every(({ parsed }) => parsed.documents.length === 0);
}

/** What is not known to be good although nothing is wrong with it. */
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
