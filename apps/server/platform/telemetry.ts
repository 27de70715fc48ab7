import { context, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { OTLPLogExporter } from '@opentelemetry/exporter-logs-otlp-http';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { BatchLogRecordProcessor, LoggerProvider } from '@opentelemetry/sdk-logs';
import {
  BatchSpanProcessor,
  type ReadableSpan,
  type Span,
  type SpanProcessor,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import type { DestinationStream } from 'pino';
import { ROUND } from './background.ts';

/**
 * Starts sending trace spans and log lines to a collector (OTLP over HTTP). main.ts imports this file only if an endpoint is set.
 * `logs` is a stream for pino's lines; `stop` flushes the spans and lines that are not sent yet.
 */
export function startTelemetry(
  endpoint: string,
  version: string,
): { logs: DestinationStream; stop(): Promise<void> } {
  const resource = resourceFromAttributes({ 'service.name': 'induct', 'service.version': version });
  const exporter = new OTLPTraceExporter({ url: `${endpoint}/v1/traces` });
  const spans = new TracerProvider({
    resource,
    spanProcessors: [new WithoutIdleRounds(new BatchSpanProcessor({ exporter }))],
  });
  const lines = new LoggerProvider({
    resource,
    processors: [
      new BatchLogRecordProcessor({ exporter: new OTLPLogExporter({ url: `${endpoint}/v1/logs` }) }),
    ],
  });
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  trace.setGlobalTracerProvider(spans);
  const logger = lines.getLogger('induct');
  return {
    logs: {
      // Pino calls `write` synchronously, so the active span is still that of the code that logs.
      write(line) {
        const { level, time, msg, ...attributes } = JSON.parse(line) as Record<string, unknown>;
        logger.emit({
          timestamp: new Date(Number(time)),
          severityNumber: severityOf(Number(level)),
          body: String(msg ?? ''),
          attributes: Object.fromEntries(
            Object.entries(attributes).map(([name, value]) => [
              name,
              typeof value === 'object' ? JSON.stringify(value) : (value as string | number | boolean),
            ]),
          ),
        });
      },
    },
    async stop() {
      // If the collector is unreachable, the server must stop nevertheless.
      await Promise.allSettled([spans.shutdown(), lines.shutdown()]);
    },
  };
}

/** Converts pino's levels 10, 20, 30 … (trace, debug, info …) to OpenTelemetry's 1, 5, 9 …. */
function severityOf(level: number): number {
  return Math.min(21, Math.max(1, (Math.floor(level / 10) - 1) * 4 + 1));
}

/** Drops the trace span of a background run that contains no other span: there are several such runs a second. */
class WithoutIdleRounds implements SpanProcessor {
  readonly #next: SpanProcessor;
  /** The ids of open background-run spans that contain no other span so far. */
  readonly #idle = new Set<string>();

  constructor(next: SpanProcessor) {
    this.#next = next;
  }

  onStart(...[span, parent]: [Span, Parameters<SpanProcessor['onStart']>[1]]): void {
    if (span.attributes[ROUND]) this.#idle.add(span.spanContext().spanId);
    if (span.parentSpanContext) this.#idle.delete(span.parentSpanContext.spanId);
    this.#next.onStart(span, parent);
  }

  onEnd(span: ReadableSpan): void {
    if (!this.#idle.delete(span.spanContext().spanId)) this.#next.onEnd(span);
  }

  forceFlush(): Promise<void> {
    return this.#next.forceFlush();
  }

  shutdown(): Promise<void> {
    return this.#next.shutdown();
  }
}
