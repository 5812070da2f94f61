import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { parse } from 'yaml';

import { applyObjects, kubectl } from './kubectl.ts';
import { CHART } from './release.ts';

const NAME = 'redis';

/** The part of the chart's values that names the image of Redis, which the node has. */
interface RedisValues {
  readonly redis: {
    readonly bundled: { readonly image: { readonly repository: string; readonly tag: string } };
  };
}

/** A Redis with a password that is not the chart's. It goes with its namespace. */
export class RedisPod {
  readonly url: string;
  readonly #namespace: string;

  private constructor(namespace: string, password: string) {
    this.#namespace = namespace;
    this.url = `redis://:${password}@${NAME}.${namespace}.svc:6379`;
  }

  /** Starts one, and waits until it answers. */
  static async start(namespace: string): Promise<RedisPod> {
    const password = randomUUID();
    const labels = { app: NAME };
    const metadata = { namespace, name: NAME, labels };
    const service = { selector: labels, ports: [{ port: 6379 }] };
    await applyObjects(
      { apiVersion: 'v1', kind: 'Pod', metadata, spec: await podSpec(password) },
      { apiVersion: 'v1', kind: 'Service', metadata, spec: service },
    );
    const ready = ['--for=condition=Ready', '--timeout=120s'];
    await kubectl('--namespace', namespace, 'wait', 'pod', NAME, ...ready);
    return new RedisPod(namespace, password);
  }

  async numberOfKeys(): Promise<number> {
    return Number(await this.run('redis-cli dbsize'));
  }

  /** Runs a command of a shell beside it, where `redis-cli` has its password, and returns what it printed. */
  async run(command: string): Promise<string> {
    const inPod = ['exec', NAME, '--', 'sh', '-c', command];
    return await kubectl('--namespace', this.#namespace, ...inPod);
  }
}

async function podSpec(password: string): Promise<object> {
  // The file of the chart has this form.
  const values = parse(await readFile(join(CHART, 'values.yaml'), 'utf8')) as RedisValues;
  const { repository, tag } = values.redis.bundled.image;
  const configuration = ['--save', '', '--maxmemory', '64mb', '--maxmemory-policy', 'noeviction'];
  return {
    terminationGracePeriodSeconds: 0,
    securityContext: {
      runAsNonRoot: true,
      runAsUser: 65_532,
      seccompProfile: { type: 'RuntimeDefault' },
    },
    containers: [
      {
        name: NAME,
        image: `${repository}:${tag}`,
        args: ['--requirepass', password, ...configuration],
        env: [{ name: 'REDISCLI_AUTH', value: password }],
        readinessProbe: { tcpSocket: { port: 6379 }, periodSeconds: 1 },
        securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
      },
    ],
  };
}
