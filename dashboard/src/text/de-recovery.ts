import type { recovery as english } from './en-recovery.ts';
import { plural } from './plural.ts';

const events = (count: number) => plural(count, 'Ereignis', 'Ereignisse');
const deliveries = (count: number) => plural(count, 'Zustellung', 'Zustellungen');

/** Was Wiederherstellung, Fehler und Formulare sagen, auf Deutsch. */
export const recovery: typeof english = {
  recover: {
    title: 'Endpunkt wiederherstellen',
    complete: 'Wiederhergestellt',
    completeAbout: 'Der neue Endpunkt erhält alle Ereignisse.',
    action: 'Wiederherstellen',
    actionOf: (url) => `Wiederherstellen: ${url}`,
    back: 'Der Endpunkt',
    disabledTitle: 'Dieser Endpunkt ist abgeschaltet',
    oldTitle: 'Der alte Endpunkt ist abgeschaltet',
    disabledAgain: 'Der Empfänger ist wieder ausgefallen: Auch der neue Endpunkt ist abgeschaltet',
    disabledAbout:
      'Er erhält keine Ereignisse mehr und bleibt abgeschaltet. Registrieren Sie seine URL erneut, um ihn wiederherzustellen, oder wenden Sie sich an den Support.',
    inARow: (count, most) => `${count} von ${most} Fehlschlägen in Folge`,
    firstFailure: 'Erster Fehlschlag',
    support: 'Durch den Support',
    missed: 'Nicht zugestellt',
    missedCount: (count, written) => `${written} ${deliveries(count)} gescheitert oder übersprungen`,
    missedWeek: 'in den letzten 7 Tagen',
    missedSince: 'seit dem ersten Fehlschlag',
    failingTitle: 'Dieser Endpunkt ist gestört',
    failingAbout:
      'Er ist noch nicht abgeschaltet. Reparieren Sie den Empfänger, senden Sie ein Testereignis, und senden Sie dann erneut, was gescheitert ist. Die nächste gelungene Zustellung beendet die Zählung.',
    healthyTitle: 'Nichts wiederherzustellen',
    healthyAbout: 'Dieser Endpunkt ist aktiv, und seine letzte Zustellung ist nicht gescheitert.',
    steps: 'Schritte der Wiederherstellung',
    step: (number, name) => `${number}. ${name}`,
    states: { done: 'Erledigt', current: 'Als Nächstes', later: 'Später' },
    register: {
      title: 'URL erneut registrieren',
      about:
        'Ein neuer Endpunkt mit derselben URL, denselben Ereignistypen, demselben Filter, derselben Beschreibung und demselben Limit. Er hat ein neues Signaturgeheimnis, das Ihr Empfänger braucht. Reparieren Sie zuerst den Empfänger.',
      recovers:
        'Ihm wird sofort ein Testereignis gesendet, das etwa eine Stunde lang wiederholt wird. Sobald es zugestellt ist, wird alles erneut gesendet, was dem alten Endpunkt fehlt.',
      action: 'Erneut registrieren',
      change: 'Einstellungen ändern',
      urlHint:
        'Durch seine URL tritt der neue Endpunkt an die Stelle des alten. Ändern Sie sie nach dem Registrieren.',
      done: 'Neuer Endpunkt',
      lostSecret:
        'Das Signaturgeheimnis wird nicht noch einmal angezeigt. Ist es verloren, löschen Sie den neuen Endpunkt, und registrieren Sie die URL noch einmal.',
      exists:
        'Die URL ist schon wieder registriert, vielleicht in einem anderen Tab. Weiter geht es mit dem nächsten Schritt.',
      limitTitle: 'Die Höchstzahl der Endpunkte ist erreicht',
      limitAbout:
        'Löschen Sie einen Endpunkt, den Sie nicht mehr brauchen, und machen Sie dann hier weiter. Auch der alte Endpunkt zählt.',
      limitAction: 'Alle Endpunkte ansehen',
    },
    resend: {
      title: 'Fehlendes erneut senden',
      about:
        'Alles, was seit dem Ausfall fehlt, auch aus der Zeit vor der Registrierung. Was hier oder am alten Endpunkt angekommen ist, wird nicht zweimal gesendet.',
      waits:
        'Das Senden beginnt, sobald das Testereignis zugestellt ist. Dafür braucht der Empfänger das neue Signaturgeheimnis. Der Dienst prüft das anfangs alle paar Sekunden, später alle 15 Minuten.',
      testFirst:
        'Senden Sie zuerst ein Testereignis: Was fehlt, wird gezählt und erneut gesendet, sobald eines zugestellt ist.',
      sinceHint:
        'In Ihrer Zeitzone. Voreingestellt: zwei Stunden vor dem ersten Fehlschlag. Ein früherer Zeitpunkt schadet nicht.',
      nothing: 'Es fehlt nichts.',
    },
    done: {
      title: 'Alten Endpunkt löschen',
      about:
        'Der alte Endpunkt erhält keine Ereignisse mehr. Seine Zustellungen bleiben 30 Tage unter „Ereignisse“ sichtbar.',
      resent: (count, written) => `${written} ${events(count)} erneut gesendet.`,
      follow: 'Zustellungen des neuen Endpunkts ansehen',
      deleteTitle: 'Alten Endpunkt löschen?',
    },
  },
  replace: {
    action: 'Ersetzen',
    title: 'Diesen Endpunkt ersetzen',
    about:
      'Ein neuer Endpunkt mit denselben Einstellungen und einem neuen Signaturgeheimnis. Beide erhalten jedes Ereignis, unter derselben webhook-id, bis Sie diesen löschen.',
  },
  resend: {
    count: 'Ereignisse zählen',
    countAgain: 'Erneut zählen',
    counting: 'Wird gezählt',
    until: 'Bis',
    untilHint: 'Lassen Sie das Feld leer, um alles bis jetzt einzuschließen.',
    untilInvalid: 'Geben Sie einen Zeitpunkt nach dem Beginn an.',
    found: (count, written) => `${written} ${events(count)} würden erneut gesendet.`,
    foundSoFar: (count, written) =>
      count === 0 ? 'Bisher keine gefunden.' : `Bisher ${written} ${events(count)} gefunden.`,
    byType: 'Nach Ereignistyp',
    start: (count, written) => `${written} ${events(count)} erneut senden`,
    none: 'Es gibt nichts erneut zu senden.',
    other: 'Ein anderer Auftrag dieses Endpunkts läuft. Warten Sie, bis er endet, oder halten Sie ihn an.',
    confirmTitle: (count, written) => `${written} ${events(count)} erneut senden?`,
    confirmSucceeded:
      'Auch Gelungenes ist dabei. Der Empfänger erhält diese Ereignisse noch einmal unter derselben webhook-id: Kennt er die ID noch, verwirft er sie als Duplikate.',
    stopped: {
      cancelled:
        'Der Auftrag wurde angehalten. Was gesendet ist, bleibt gesendet. Zählen Sie erneut, um den Rest zu senden.',
      endpoint_disabled:
        'Der Auftrag wurde angehalten, weil der Endpunkt abgeschaltet wurde: Sein Empfänger ist wieder ausgefallen.',
      endpoint_deleted: 'Der Auftrag wurde angehalten, weil der Endpunkt gelöscht wurde.',
      endpoint_paused:
        'Der Auftrag wurde angehalten, weil der Endpunkt pausiert wurde. Setzen Sie ihn fort, und zählen Sie erneut.',
      test_failed:
        'Nichts wurde erneut gesendet, weil das Testereignis nicht zugestellt wurde. Reparieren Sie den Empfänger, senden Sie ein Testereignis, und lassen Sie dann zählen und erneut senden.',
    },
    said: (percent) => `Wird erneut gesendet: ${percent}`,
    saidDone: (count, written) => `Fertig: ${written} ${events(count)} erneut gesendet.`,
    eventFilter: 'Der Filter nach Ereignis gilt hier nicht: Ereignisse aller Typen werden erneut gesendet.',
    disabled: 'Dieser Endpunkt ist abgeschaltet, ihm kann nichts erneut gesendet werden.',
    paused:
      'Dieser Endpunkt ist pausiert, ihm kann nichts erneut gesendet werden. Setzen Sie ihn zuerst fort.',
  },
  failures: {
    title: 'Fehler',
    about: 'Zustellungen aller Endpunkte, die gescheitert sind oder wiederholt werden, nach Ursache.',
    statuses: { any: 'Gescheitert oder wird wiederholt', exhausted: 'Gescheitert' },
    list: 'Fehler nach Ursache',
    times: (count) => `${count} ×`,
    noResponse: 'Keine Antwort',
    noMessage: 'ohne Meldung',
    first: 'Zuerst',
    last: 'Zuletzt',
    retrying: (count, written) => `${written} davon ${plural(count, 'wird', 'werden')} wiederholt`,
    whatToDo: 'Was zu tun ist',
    whatToDoAbout: (code) => `Was zu tun ist bei ${code}`,
    example: 'Beispiel der Meldung',
    deliveries: (count, written) => `${written} ${deliveries(count)}`,
    more: 'Weitere Zustellungen',
    read: (count, written) => `${written} ${deliveries(count)} gelesen.`,
    readMore: 'Weitere lesen',
    refresh: 'Aktualisieren',
    readAll: 'Das sind alle in diesem Zeitraum.',
    atDeleted: (count, shown) =>
      `${shown} weitere ${plural(count, 'Zustellung', 'Zustellungen')} an gelöschte Endpunkte ${plural(count, 'scheiterte', 'scheiterten')}. Zum Ereignisprotokoll`,
    none: 'Keine Fehler',
    noneOf: {
      any: 'Keine Zustellung in diesem Zeitraum ist gescheitert oder wartet auf eine Wiederholung.',
      exhausted: 'Keine Zustellung in diesem Zeitraum ist mit allen Versuchen gescheitert.',
    },
    disabledEndpoints: 'Abgeschaltet, daher kann nichts erneut gesendet werden:',
    resend: 'Diese Gruppe erneut senden',
    resendOf: (cause) => `Diese Gruppe erneut senden: ${cause}`,
    confirmTitle: 'Diese Gruppe erneut senden?',
    confirm: (count, written) =>
      `${written} ${events(count)} ${plural(count, 'wird', 'werden')} erneut gesendet, jedes einmal an seinen Endpunkt. Gescheiterte Zustellungen werden als neue gesendet, wiederholte sofort versucht. Was inzwischen angekommen ist, wird ausgelassen.`,
    left: (count, written) =>
      `${written} ${events(count)} abgeschalteter oder pausierter Endpunkte ${plural(count, 'wird', 'werden')} ausgelassen.`,
    start: (count, written) => `${written} ${events(count)} erneut senden`,
    progressTitle: 'Die Gruppe wird erneut gesendet',
    stay: 'Das Senden endet, wenn Sie diese Seite verlassen. Zum Fortsetzen senden Sie die Gruppe noch einmal: Was schon gesendet wurde, wird ausgelassen.',
    job: 'Alle gescheiterten Zustellungen dieses Endpunkts durch einen Auftrag erneut senden, der keine offene Seite braucht',
    continue: 'Fortsetzen',
    sent: (_count, written) => `${written} erneut gesendet`,
    arrived: (count, written) => `${written} ${plural(count, 'war', 'waren')} schon angekommen`,
    refused: (_count, written) => `${written} abgelehnt`,
    stopped: 'Angehalten.',
    finished: 'Fertig.',
  },
  numbers: {
    rate: 'Gescheiterte und übersprungene Zustellungen zählen dagegen.',
    outcomes: 'Ergebnisse',
    openAbout: 'Noch nicht beendet, daher nicht in der Quote.',
    latency: 'Dauer eines Versuchs',
    latencyHead: 'p50 / p95',
    latencySlow: (p95) => `Median. 95 von 100 dauern höchstens ${p95}.`,
    latencyOf: (p50, p95) => `${p50} / ${p95}`,
    seeList: (name, count) => `${name}: ${count}. Liste ansehen`,
  },
  filter: {
    channelIdsHint:
      'Nur Ereignisse dieser Kanäle, eine ID je Zeile. Ereignisse ohne Kanal werden immer gesendet. Ohne Angabe gilt jeder Kanal.',
    roles: 'Rollen',
    rolesHint:
      'Nur Nachrichten dieser Absender. Ereignisse ohne Rolle werden immer gesendet. Ohne Auswahl gilt jede Rolle.',
    noEvents: (days) => `Kein Ereignis in den letzten ${days} Tagen, um den Filter zu zeigen.`,
    sent: (count, written) =>
      `Mit diesen Einstellungen ${plural(count, 'würde', 'würden')} ${written} der letzten Ereignisse gesendet`,
    lost: (count, written) =>
      count === 0
        ? 'Nichts, was heute gesendet wird, würde wegfallen.'
        : `${written} ${events(count)}, ${plural(count, 'das heute gesendet wird, würde', 'die heute gesendet werden, würden')} wegfallen.`,
    peak: (written) => `In einer Sekunde höchstens ${written}.`,
    lookedAtAll: (count, written, days) =>
      `Geprüft: ${plural(count, 'das einzige Ereignis', `alle ${written} Ereignisse`)} der letzten ${days} Tage.`,
    lookedAt: (written, since) => `Geprüft: die neuesten ${written} Ereignisse, zurück bis ${since}.`,
    examples: 'Beispiele, die neuesten zuerst',
  },
  forms: {
    correct: 'Korrigieren Sie die markierten Felder',
    faults: {
      required: () => 'Dieses Feld muss ausgefüllt sein.',
      unknown_field: () => 'Der Dienst kennt dieses Feld nicht.',
      duplicate: () => 'Nennen Sie jeden Wert einmal.',
      invalid_type: () => 'Dieser Wert hat den falschen Typ.',
      invalid_format: () => 'Dieser Wert hat die falsche Form.',
      invalid_characters: () =>
        'Entfernen Sie Steuerzeichen und unsichtbare Zeichen, aus einer URL auch Leerzeichen.',
      not_allowed: () => 'Dieser Wert ist nicht erlaubt.',
      too_short: (limit) => `Mindestens ${limit} Zeichen.`,
      too_long: (limit) => `Höchstens ${limit} Zeichen.`,
      too_few: (limit) => `Wählen Sie mindestens ${limit}.`,
      too_many: (limit) => `Wählen Sie höchstens ${limit}.`,
      too_small: (limit) => `Mindestens ${limit}.`,
      too_large: (limit) => `Höchstens ${limit}.`,
      url_scheme: () => 'Die URL muss mit https:// beginnen.',
      url_credentials: () => 'Die URL darf keinen Benutzernamen und kein Passwort enthalten.',
      url_fragment: () => 'Die URL darf keinen Teil nach # enthalten.',
      url_port: () => 'Der Port muss 443 sein, oder mindestens 1024.',
      url_host: () => 'Die URL braucht einen öffentlichen Hostnamen oder eine öffentliche IP-Adresse.',
      url_blocked: () => 'Der Betreiber dieses Dienstes hat diesen Host gesperrt.',
    },
    all: 'Alle auswählen',
    noneOfThem: 'Keine auswählen',
    meaning: 'Bedeutung und Beispiel',
    example: (type) => `Beispiel für ${type}`,
    descriptionHint: 'Wozu der Endpunkt dient. Optional.',
    maxPerSecond: 'Versuche pro Sekunde',
    maxPerSecondHint: 'Höchstwert, 1 bis 1.000. Ohne Angabe gibt es keine Grenze.',
    maxPerSecondInvalid: 'Eine ganze Zahl von 1 bis 1.000.',
  },
};
