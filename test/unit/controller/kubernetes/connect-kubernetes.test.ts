import { describe, expect, it } from '@jest/globals';

import { join } from 'node:path';
import { connectKubernetes } from '../../../../controller/kubernetes/connect-kubernetes.ts';
import { kubeconfigAccess } from '../../../../controller/kubernetes/kubeconfig-access.ts';
import { KubernetesApiError } from '../../../../controller/kubernetes/kubernetes-api.ts';
import {
  LEASES,
  ROUTES,
  SECRETS,
  SERVICES,
  TOKEN_REVIEWS,
} from '../../../../controller/kubernetes/resource-types.ts';
import { freePort } from '../../../support/free-port.ts';
import { answerJson, answerStatus } from '../../../support/kubernetes/scripted-api-server.ts';
import { writeInsecureKubeconfig } from '../../../support/kubernetes/write-insecure-kubeconfig.ts';
import { ROUTES_PATH, api, directory, identity, server } from './connect-kubernetes-world.ts';

describe('requests to the API server', () => {
  it('list page by page, and add apiVersion and kind to each item', async () => {
    for (const name of ['a', 'b', 'c']) {
      server.put('/api/v1/namespaces/apps/services', { metadata: { name, namespace: 'apps' } });
    }
    const first = await api.list(SERVICES, {}, { limit: 2 });
    const rest = await api.list(SERVICES, {}, { limit: 2, continueAt: first.continueAt ?? '' });
    expect([...first.items, ...rest.items].map(({ metadata }) => metadata.name)).toEqual([
      'a',
      'b',
      'c',
    ]);
    expect(first.items[0]).toMatchObject({ apiVersion: 'v1', kind: 'Service' });
    expect(rest.continueAt).toBeUndefined();
    expect(server.requests.map(({ path }) => path)).toEqual([
      '/api/v1/services',
      '/api/v1/services',
    ]);
  });

  it('reject a response that is not UTF-8 instead of replacing characters', async () => {
    server.intercept = (_request, response) => {
      const list = { metadata: { resourceVersion: '1' }, items: [{ metadata: { name: 'grüße' } }] };
      response.end(Buffer.from(JSON.stringify(list), 'latin1'));
      return true;
    };
    await expect(api.list(SERVICES, {})).rejects.toThrow('the response is not UTF-8');
  });

  it('select one object of a list by field selector', async () => {
    await api.list(SECRETS, { namespace: 'gatehouse', name: 'keys' });
    const [request] = server.requests;
    expect(request?.path).toBe('/api/v1/namespaces/gatehouse/secrets');
    expect(request?.query.get('fieldSelector')).toBe('metadata.name=keys');
  });

  it('carry the credentials', async () => {
    await api.list(SECRETS, {});
    expect(server.requests[0]?.headers.authorization).toBe('Bearer token-of-a-test');
  });

  it('name the program', async () => {
    await api.list(SECRETS, {});
    const kubeconfig = join(directory, 'named');
    await writeInsecureKubeconfig(kubeconfig, server.url);
    const access = kubeconfigAccess(kubeconfig);
    await connectKubernetes(access, { userAgent: 'gatehouse-controller' }).list(SECRETS, {});
    const names = server.requests.map(({ headers }) => headers['user-agent']);
    expect(names).toEqual(['gatehouse', 'gatehouse-controller']);
  });

  it('apply a status as the field manager gatehouse, forced', async () => {
    server.intercept = (_request, response) => {
      answerJson(response, 200, { metadata: { name: 'files', resourceVersion: '7' } });
      return true;
    };
    const applied = await api.applyStatus(
      ROUTES,
      { namespace: 'apps', name: 'files' },
      { url: 'https://files.example.com' },
    );
    expect(applied.metadata.resourceVersion).toBe('7');
    const [request] = server.requests;
    expect(request?.method).toBe('PATCH');
    expect(request?.path).toBe(`${ROUTES_PATH}/files/status`);
    expect(Object.fromEntries(request?.query ?? [])).toEqual({
      fieldManager: 'gatehouse',
      force: 'true',
    });
    expect(request?.headers['content-type']).toBe('application/apply-patch+yaml');
    expect(JSON.parse(request?.body ?? '')).toEqual({
      apiVersion: 'gatehouse.dev/v1alpha1',
      kind: 'Route',
      metadata: { namespace: 'apps', name: 'files' },
      status: { url: 'https://files.example.com' },
    });
  });

  it.each<[string, string, () => Promise<unknown>]>([
    [
      'POST',
      '/apis/coordination.k8s.io/v1/namespaces/gatehouse/leases',
      () => api.create(LEASES, 'gatehouse', { spec: {} }),
    ],
    [
      'POST',
      '/apis/authentication.k8s.io/v1/tokenreviews',
      () => api.create(TOKEN_REVIEWS, undefined, { spec: {} }),
    ],
    [
      'PUT',
      '/apis/coordination.k8s.io/v1/namespaces/gatehouse/leases/it',
      () => api.replace(LEASES, { namespace: 'gatehouse', name: 'it' }, { spec: {} }),
    ],
    [
      'GET',
      '/apis/coordination.k8s.io/v1/namespaces/a%2Fb/leases/..%3Fx',
      () => api.get(LEASES, { namespace: 'a/b', name: '..?x' }),
    ],
  ])('send %s to %s', async (method, path, send) => {
    server.intercept = (_request, response) => {
      answerJson(response, 200, { metadata: {}, status: { authenticated: true } });
      return true;
    };
    await expect(send()).resolves.toMatchObject({ status: { authenticated: true } });
    expect(server.requests[0]).toMatchObject({ method, path });
    expect(server.requests[0]?.body).toBe(method === 'GET' ? '' : '{"spec":{}}');
  });

  it.each(['..', '.', ''])('are not sent for an object named "%s"', async (name) => {
    await expect(api.get(SECRETS, { namespace: 'apps', name })).rejects.toThrow('invalid name');
    expect(server.requests).toEqual([]);
  });

  it('reject with code, reason and message when the server refuses', async () => {
    server.intercept = (_request, response) => {
      response.setHeader('retry-after', '7');
      answerStatus(response, 429, 'TooManyRequests', 'slow down');
      return true;
    };
    const error: unknown = await api.get(SECRETS, { namespace: 'a', name: 'b' }).catch(identity);
    expect(error).toBeInstanceOf(KubernetesApiError);
    expect(error).toMatchObject({ code: 429, reason: 'TooManyRequests', retryAfter: 7 });
    expect(String(error)).toContain('slow down');
  });

  it('reject with the status of an intermediate proxy, and do not quote its body', async () => {
    server.intercept = (_request, response) => {
      response.writeHead(502, { 'content-type': 'text/html' }).end('<h1>secret page</h1>');
      return true;
    };
    const error: unknown = await api.list(SECRETS, {}).catch(identity);
    expect(error).toMatchObject({ code: 502, reason: '', retryAfter: undefined });
    expect(String(error)).not.toContain('secret page');
  });

  it.each([
    'not JSON at all',
    '{"metadata":{}}',
    '[]',
    '{"metadata":{"resourceVersion":"1"},"items":[7]}',
  ])('reject a list that is %s, and do not quote it', async (body) => {
    server.intercept = (_request, response) => {
      response.end(body);
      return true;
    };
    const error: unknown = await api.list(SECRETS, {}).catch(identity);
    expect(error).toBeInstanceOf(Error);
    expect(error).not.toBeInstanceOf(KubernetesApiError);
    expect(String(error)).not.toContain(body);
  });

  it('reject with another error when nothing responds', async () => {
    const kubeconfig = join(directory, 'kubeconfig');
    await writeInsecureKubeconfig(kubeconfig, `http://127.0.0.1:${String(await freePort())}`);
    const error: unknown = await connectKubernetes(kubeconfigAccess(kubeconfig))
      .list(ROUTES, {})
      .catch(identity);
    expect(String(error)).toContain('ECONNREFUSED');
    expect(error).not.toBeInstanceOf(KubernetesApiError);
  });

  it('reject after the request timeout', async () => {
    const kubeconfig = join(directory, 'kubeconfig');
    await writeInsecureKubeconfig(kubeconfig, server.url);
    server.intercept = (_request, response) => {
      response.write('{');
      return true;
    };
    const impatient = connectKubernetes(kubeconfigAccess(kubeconfig), { requestTimeoutMs: 100 });
    await expect(impatient.list(ROUTES, {})).rejects.toThrow('timeout');
  });
});
