import { describe, expect, test } from '@jest/globals';

import { parseRedisUrl } from '../../../../proxy/store/redis/connection/redis-url.ts';

const STANDALONE = {
  kind: 'standalone',
  prefix: 'gatehouse:',
  address: { host: 'redis', port: 6379 },
  database: 0,
};
const SENTINEL = {
  kind: 'sentinel',
  prefix: 'gatehouse:',
  sentinels: [
    { host: 'a', port: 26379 },
    { host: 'b', port: 5000 },
  ],
  master: 'main',
  database: 0,
};
const CLUSTER = {
  kind: 'cluster',
  prefix: 'gatehouse:',
  nodes: [
    { host: 'a', port: 6379 },
    { host: '::1', port: 7001 },
  ],
};

describe('a Redis URL', () => {
  test.each([
    ['redis://redis', STANDALONE],
    ['REDIS://redis/', STANDALONE],
    [
      'redis://redis:6380/7',
      { ...STANDALONE, address: { host: 'redis', port: 6380 }, database: 7 },
    ],
    ['redis://[::1]', { ...STANDALONE, address: { host: '::1', port: 6379 } }],
    ['redis://[fd00::2]:7000', { ...STANDALONE, address: { host: 'fd00::2', port: 7000 } }],
    ['redis://10.0.0.1:1', { ...STANDALONE, address: { host: '10.0.0.1', port: 1 } }],
    [
      'redis://gate:s%40%2F%3F%23%C3%9F@redis',
      { ...STANDALONE, login: { username: 'gate', password: 's@/?#ß' } },
    ],
    ['redis://:pw@redis', { ...STANDALONE, login: { username: 'default', password: 'pw' } }],
    ['redis://u:a:b@redis', { ...STANDALONE, login: { username: 'u', password: 'a:b' } }],
    ['redis://redis?prefix=team.a:x', { ...STANDALONE, prefix: 'team.a:x:' }],
    ['redis://redis?prefix=x:', { ...STANDALONE, prefix: 'x:' }],
    ['redis://redis/2?prefix=x', { ...STANDALONE, prefix: 'x:', database: 2 }],
    ['rediss://redis', { ...STANDALONE, tls: {} }],
    [
      'rediss://redis?ca_file=/ca%20dir/a+b.pem&cert_file=c&key_file=k&server_name=redis.example',
      {
        ...STANDALONE,
        tls: {
          caFile: '/ca dir/a+b.pem',
          clientCertificate: { certFile: 'c', keyFile: 'k' },
          serverName: 'redis.example',
        },
      },
    ],
    ['redis+sentinel://a,b:5000/main', SENTINEL],
    ['redis+sentinel://a,b:5000/main/3', { ...SENTINEL, database: 3 }],
    [
      'rediss+sentinel://u:p@a,b:5000/main?sentinel_user=s&sentinel_password=q%26',
      {
        ...SENTINEL,
        login: { username: 'u', password: 'p' },
        sentinelLogin: { username: 's', password: 'q&' },
        tls: {},
      },
    ],
    [
      'redis+sentinel://a,b:5000/main?sentinel_password=q',
      { ...SENTINEL, sentinelLogin: { username: 'default', password: 'q' } },
    ],
    ['redis+cluster://a,[::1]:7001', CLUSTER],
    ['rediss+cluster://a,[::1]:7001/?ca_file=x', { ...CLUSTER, tls: { caFile: 'x' } }],
  ])('%s is parsed', (url, target) => {
    expect(parseRedisUrl(url)).toEqual(target);
  });

  test.each([
    ['redis', 'must begin with'],
    ['http://redis', 'must begin with'],
    ['unix:///run/redis.sock', 'must begin with'],
    ['redis+http://redis', 'must begin with'],
    ['redis://', 'a host must be'],
    ['redis:///1', 'a host must be'],
    ['redis://:6379', 'a host must be'],
    ['redis://a,', 'a host must be'],
    ['redis://::1', 'a host must be'],
    ['redis://[::1', 'a host must be'],
    ['redis://[redis]', 'a host must be'],
    ['redis://-a', 'a host must be'],
    ['redis://redis:0', 'a port must be'],
    ['redis://redis:', 'a port must be'],
    ['redis://redis:65536', 'a port must be'],
    ['redis://redis:6379x', 'a port must be'],
    ['redis://a,b', 'several hosts'],
    ['redis://redis/x', 'database'],
    ['redis://redis/-1', 'database'],
    ['redis://redis/1/2', 'database'],
    ['redis+sentinel://a', 'name the master'],
    ['redis+sentinel://a/', 'name the master'],
    ['redis+sentinel://a/ma$ter', 'name the master'],
    ['redis+sentinel://a/main/x', 'database'],
    ['redis+cluster://a/0', 'no databases'],
    ['redis://user@redis', 'user:password'],
    ['redis://user:@redis', 'user:password'],
    ['redis://u:%ff@redis', 'percent-encoded'],
    ['redis://redis?color=red', 'one of its parameters does not exist'],
    ['redis://redis?prefix=a&of-a-password', 'one of its parameters does not exist'],
    ['redis://redis?prefix=a&prefix=b', 'prefix is given twice'],
    ['redis://redis?prefix=', 'prefix is empty'],
    ['redis://redis?prefix', 'prefix is empty'],
    ['redis://redis?prefix={a}', 'prefix must be'],
    ['redis://redis?prefix=a%20b', 'prefix must be'],
    ['redis://redis?prefix=%ff', 'prefix must be percent-encoded'],
    ['redis://redis?ca_file=x', 'ca_file needs rediss'],
    ['redis://redis?server_name=x', 'server_name needs rediss'],
    ['rediss://redis?cert_file=x', 'need each other'],
    ['rediss://redis?key_file=x', 'need each other'],
    ['rediss://redis?server_name=a%20b', 'server_name must be'],
    ['redis://redis?sentinel_password=x', 'sentinel_password is for'],
    ['redis+cluster://redis?sentinel_user=x', 'sentinel_user is for'],
    ['redis+sentinel://a/main?sentinel_user=x', 'sentinel_user needs'],
  ])('%s is refused: %s', (url, message) => {
    expect(() => parseRedisUrl(url)).toThrow(message);
  });

  test.each([
    'redis://user:hunter2@redis:x',
    'redis://user:hun/ter2@redis',
    'redis://user:hun?ter2=hunter2@redis',
    'redis://user:hun#ter2@redis',
    'redis://user:hunter2/@redis',
    'redis://user:hun@ter2@redis',
    'redis://user:hunter2@',
    'redis://user:hunter2%ff@redis',
    'redis://hunter2@redis',
    'redis://user:hun ter2@redis',
    'rediss+sentinel://a/main?sentinel_password=hunter2&hunter2',
    'redis://user:hunter2,hunter2',
  ])('%s is refused without showing the password', (url) => {
    const message = refusalOf(url);
    expect(message).not.toBe('');
    expect(message).not.toMatch(/hun|ter2/);
  });
});

function refusalOf(url: string): string {
  try {
    parseRedisUrl(url);
    return '';
  } catch (error) {
    return String(error);
  }
}
