import { beforeEach, expect, test } from '@jest/globals';

import { connectKubernetes } from '../../controller/kubernetes/connect-kubernetes.ts';
import { kubeconfigAccess } from '../../controller/kubernetes/kubeconfig-access.ts';
import type { ResourceType } from '../../controller/kubernetes/kubernetes-api.ts';
import { GATEWAY_SETTINGS, ROUTES } from '../../controller/kubernetes/resource-types.ts';
import type { Status } from '../../controller/status/compare-status.ts';
import { routeStatus, type RouteStatusInput } from '../../controller/status/route-status.ts';
import {
  settingsStatus,
  type SettingsStatusInput,
} from '../../controller/status/settings-status.ts';
import { createNamespace } from '../support/kubernetes/create-namespace.ts';
import { describeWithClusters } from '../support/kubernetes/describe-with-clusters.ts';
import { openForAll } from '../support/open-for-all.ts';
import { routeVerdict, settingsVerdict } from '../support/verdicts.ts';

const NAME = 'gatehouse';
const AS_TABLE = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' };
const COMMON = {
  rollout: { kind: 'programmed' },
  obstacle: undefined,
  upstreamAuth: { found: undefined, since: undefined },
  current: undefined,
  now: new Date(),
} as const;
const GATEWAY = { attachedRoutes: 3, proxies: { connected: 2, ready: 2, synced: 2, rejected: 0 } };

const INVALID_REGEX = { path: 'spec.regex', reason: 'InvalidRegex', message: 'too slow' } as const;
const NO_BACKEND = {
  path: 'spec.backendRefs[0]',
  reason: 'BackendNotFound',
  message: 'there is no Service app',
} as const;
const NO_PROVIDER = {
  path: 'spec.policy',
  reason: 'IdentityProviderNotFound',
  message: 'the settings name none',
} as const;
const NO_SECRET = {
  path: 'spec.identityProviders[0].clientSecretRef',
  reason: 'SecretNotFound',
  message: 'there is no Secret company',
} as const;

/** The table that `kubectl get` prints. */
interface Table {
  readonly columnDefinitions: readonly { readonly name: string; readonly priority: number }[];
  readonly rows: readonly { readonly cells: readonly unknown[] }[];
}

type Cells = Readonly<Record<string, unknown>>;

describeWithClusters(['tables'], 'columns', (openCluster) => {
  const cluster = openForAll(openCluster);
  let namespace: string;

  beforeEach(async () => {
    namespace = await createNamespace(cluster());
  });

  /** Creates an object. The result writes a status as the controller does, and returns the row. */
  async function create(
    type: ResourceType,
    spec: object,
  ): Promise<(status: Status, columns?: 'default' | 'wide') => Promise<Cells>> {
    const api = connectKubernetes(kubeconfigAccess(cluster().adminKubeconfig));
    const { group, version, plural, kind } = type;
    const apiVersion = `${group}/${version}`;
    await api.create(type, namespace, { apiVersion, kind, metadata: { name: NAME }, spec });
    return async (status, columns = 'default') => {
      await api.applyStatus(type, { namespace, name: NAME }, status);
      const path = `/apis/${apiVersion}/namespaces/${namespace}/${plural}`;
      const { admin } = cluster();
      return cellsOf((await admin.request('GET', path, undefined, AS_TABLE)) as Table, columns);
    };
  }

  test('show a Route that is served', async () => {
    const show = await create(ROUTES, { from: 'https://files.example.com', to: 'http://files' });
    const status = routeStatusOf({});
    const cells = {
      Name: NAME,
      From: 'https://files.example.com',
      MCP: 'server',
      Accepted: 'True',
      ResolvedRefs: 'True',
      Programmed: 'True',
      Reason: null,
    };
    expect(await show(status)).toEqual(cells);
    expect(await show(status, 'wide')).toEqual({ ...cells, To: 'http://files', Message: null });
  });

  test('show the problems of a Route, the most important one first', async () => {
    const show = await create(ROUTES, { from: 'https://files.example.com', to: 'http://files' });
    const verdictOf = async (input: Partial<RouteStatusInput>): Promise<string> =>
      verdictIn(await show(routeStatusOf(input)));
    const refused = routeVerdict({ problems: [INVALID_REGEX] });
    const keepsServing = routeVerdict({
      generation: 2,
      problems: [INVALID_REGEX],
      servedGeneration: 1,
    });
    const rejected = { kind: 'rejected', proxy: 'proxy-0', message: 'no' } as const;
    const pending = { kind: 'pending', proxies: 3, acknowledged: 1 } as const;

    expect([
      await verdictOf({ verdict: refused }),
      await verdictOf({}),
      await verdictOf({ verdict: keepsServing }),
      await verdictOf({ verdict: routeVerdict({ problems: [NO_BACKEND], isAccepted: true }) }),
      await verdictOf({ verdict: routeVerdict({ problems: [NO_PROVIDER] }) }),
      await verdictOf({ rollout: pending }),
      await verdictOf({ rollout: rejected }),
      await verdictOf({ rollout: undefined, obstacle: 'too many deletions' }),
      await verdictOf({ rollout: { kind: 'no-proxies' } }),
      await verdictOf({}),
    ]).toEqual([
      'False Unknown False InvalidRegex',
      'True True True -',
      'False Unknown False InvalidRegex',
      'True False True BackendNotFound',
      'True False False IdentityProviderNotFound',
      'True True False Pending',
      'True True False Rejected',
      'True True False HeldBack',
      'True True Unknown NoProxies',
      'True True True -',
    ]);
  });

  test('show GatewaySettings that proxies serve', async () => {
    const show = await create(GATEWAY_SETTINGS, {});
    const addresses = [{ type: 'IPAddress', value: '192.0.2.1' }] as const;
    const cells = {
      Name: NAME,
      Address: '192.0.2.1',
      Proxies: 2,
      Accepted: 'True',
      ResolvedRefs: 'True',
      Programmed: 'True',
      Reason: null,
    };
    const status = settingsStatusOf({ gateway: { ...GATEWAY, addresses } });
    expect(await show(status)).toEqual(cells);
    expect(await show(status, 'wide')).toEqual({ ...cells, Message: null });
  });

  test('show the problems of GatewaySettings, the most important one first', async () => {
    const show = await create(GATEWAY_SETTINGS, {});
    const verdictOf = async (input: Partial<SettingsStatusInput>): Promise<string> =>
      verdictIn(await show(settingsStatusOf(input)));
    const heldBack = { obstacle: 'too many deletions' };

    expect([
      await verdictOf({ verdict: settingsVerdict({ problems: [NO_SECRET] }) }),
      await verdictOf(heldBack),
      await verdictOf({ rollout: { kind: 'no-proxies' } }),
      await verdictOf({}),
    ]).toEqual([
      'True False False SecretNotFound',
      'True True False HeldBack',
      'True True Unknown NoProxies',
      'True True True -',
    ]);
    expect(await show(settingsStatusOf(heldBack), 'wide')).toMatchObject({
      Reason: 'HeldBack',
      Message: 'Publication is held back: too many deletions.',
    });
  });
});

function routeStatusOf(input: Partial<RouteStatusInput>): Status {
  return routeStatus({ ...COMMON, gatewayClass: 'gatehouse', verdict: routeVerdict(), ...input });
}

function settingsStatusOf(input: Partial<SettingsStatusInput>): Status {
  return settingsStatus({ ...COMMON, verdict: settingsVerdict(), gateway: GATEWAY, ...input });
}

/** The cells of the only row, without the age. */
function cellsOf({ columnDefinitions, rows }: Table, columns: 'default' | 'wide'): Cells {
  return Object.fromEntries(
    columnDefinitions.flatMap(({ name, priority }, index) => {
      const isShown = columns === 'wide' || priority === 0;
      return isShown && name !== 'Age' ? [[name, rows[0]?.cells[index]]] : [];
    }),
  );
}

function verdictIn({ Accepted, ResolvedRefs, Programmed, Reason }: Cells): string {
  return [Accepted, ResolvedRefs, Programmed, Reason ?? '-'].map(String).join(' ');
}
