package main

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"
)

const (
	maxBodyBytes = 1 << 20
	maxJobs      = 1000
)

type receiver struct {
	secrets []string
	jobs    chan event
	mutex   sync.Mutex
	seen    seen
}

// ServeHTTP answers 204 to a signed event, which is processed afterwards, once.
func (r *receiver) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, request.Body, maxBodyBytes))
	if err != nil {
		status := http.StatusBadRequest
		if tooLarge := new(http.MaxBytesError); errors.As(err, &tooLarge) {
			status = http.StatusRequestEntityTooLarge
		}
		w.WriteHeader(status)
		return
	}
	if !r.isSigned(request.Header, body) {
		log.Print("Refused a request without a valid signature")
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	e, err := parseEvent(request.Header.Get("webhook-id"), body)
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	w.WriteHeader(r.accept(e))
}

// isSigned reports whether a secret made a signature of the request.
func (r *receiver) isSigned(header http.Header, body []byte) bool {
	for _, secret := range r.secrets {
		if isGenuine(secret, header.Get("webhook-id"), header.Get("webhook-timestamp"), header.Get("webhook-signature"), body) {
			return true
		}
	}
	return false
}

// accept adds a job for an event that is new, and returns the status of the response.
func (r *receiver) accept(e event) int {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if r.seen.has(e.id) {
		return http.StatusNoContent
	}
	select {
	// A restart loses a job. In production use your job queue here instead (River, SQS).
	case r.jobs <- e:
		r.seen.add(e.id)
		return http.StatusNoContent
	default:
		// Busy: the event is delivered again later.
		return http.StatusServiceUnavailable
	}
}

func main() {
	log.SetFlags(0)
	// One signing secret, or several separated by spaces while one replaces another.
	secrets := strings.Fields(os.Getenv("WEBHOOK_SECRET"))
	if len(secrets) == 0 {
		log.Fatal("WEBHOOK_SECRET is not set.")
	}
	address := net.JoinHostPort(environment("HOST", "127.0.0.1"), environment("PORT", "4000"))
	r := &receiver{secrets: secrets, jobs: make(chan event, maxJobs)}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for e := range r.jobs {
			process(e)
		}
	}()

	mux := http.NewServeMux()
	mux.Handle("POST /webhooks", r)
	server := &http.Server{Addr: address, Handler: mux, ReadTimeout: 10 * time.Second, IdleTimeout: time.Minute}
	stop, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer cancel()
	go func() {
		<-stop.Done()
		server.Shutdown(context.Background())
	}()
	log.Printf("Listening at http://%s/webhooks", address)
	if err := server.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		log.Fatal(err)
	}
	// Requests have ended: finish the jobs that they added.
	close(r.jobs)
	<-done
}

func environment(name, otherwise string) string {
	if value := os.Getenv(name); value != "" {
		return value
	}
	return otherwise
}
