import { Socket } from 'node:net';

import { afterEach, beforeEach, expect, test } from '@jest/globals';

import { ClientConnection, LOOKS_FOR_IDLE } from '../../../../proxy/server/connection.ts';

const KEEP_ALIVE_MS = 75_000;

let socket: Socket;
let received: number;
let connection: ClientConnection;

beforeEach(() => {
  socket = new Socket();
  received = 100;
  Object.defineProperty(socket, 'bytesRead', { get: () => received });
  const linger = { lingerMs: 1, lingerBytes: 1 };
  connection = new ClientConnection(socket, {
    linger,
    serve: () => undefined,
    onRefused: () => undefined,
  });
  connection.closeIfIdle();
});

afterEach(() => {
  socket.destroy();
});

test('a connection is closed when nothing happens for longer than clients may count on', () => {
  socket.setTimeout(KEEP_ALIVE_MS);
  look(LOOKS_FOR_IDLE);
  expect(socket.destroyed).toBe(false);
  look(1);
  expect(socket.destroyed).toBe(true);
});

test('a connection on which a response is awaited is not closed', () => {
  socket.setTimeout(KEEP_ALIVE_MS);
  look(LOOKS_FOR_IDLE);
  socket.setTimeout(0);
  look(2 * LOOKS_FOR_IDLE);
  expect(socket.destroyed).toBe(false);
});

test('the time begins again after each request', () => {
  for (let request = 0; request < 3; request += 1) {
    received += 100;
    socket.setTimeout(0);
    socket.setTimeout(KEEP_ALIVE_MS);
    look(LOOKS_FOR_IDLE);
    expect(socket.destroyed).toBe(false);
  }
});

test('the time begins again when it is restarted', () => {
  socket.setTimeout(KEEP_ALIVE_MS);
  look(LOOKS_FOR_IDLE);
  connection.restartIdleTime();
  look(LOOKS_FOR_IDLE);
  expect(socket.destroyed).toBe(false);
  look(1);
  expect(socket.destroyed).toBe(true);
});

test('a connection that has received a part of a request is not closed as idle', () => {
  socket.setTimeout(KEEP_ALIVE_MS);
  for (let part = 0; part < 2 * LOOKS_FOR_IDLE; part += 1) {
    received += 1;
    look(1);
  }
  expect(socket.destroyed).toBe(false);
});

function look(times: number): void {
  for (let time = 0; time < times; time += 1) connection.closeIfIdle();
}
