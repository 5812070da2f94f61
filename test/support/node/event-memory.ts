import type { EventStore } from '@modelcontextprotocol/sdk/server/streamableHttp.js';

type Message = Parameters<EventStore['storeEvent']>[1];

interface StoredEvent {
  readonly stream: string;
  readonly message: Message;
}

/** The events of one MCP session, for clients that resume a stream. That of the SDK's examples resumes no GET stream. */
export class EventMemory implements EventStore {
  readonly #events: StoredEvent[] = [];

  storeEvent(stream: string, message: Message): Promise<string> {
    this.#events.push({ stream, message });
    return Promise.resolve(String(this.#events.length));
  }

  /** Sends what followed an event in its stream, and returns the stream. */
  async replayEventsAfter(
    lastEventId: string,
    { send }: { readonly send: (eventId: string, message: Message) => Promise<void> },
  ): Promise<string> {
    const first = Number(lastEventId);
    const stream = this.#events[first - 1]?.stream ?? '';
    for (const [offset, event] of this.#events.slice(first).entries()) {
      if (event.stream === stream) await send(String(first + offset + 1), event.message);
    }
    return stream;
  }
}
